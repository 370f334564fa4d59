# The leaderboard over all runs of params.yaml.

from pathlib import Path

from groundeval import closure, plan
from groundeval.stages import dvc

dvc.check_in_stage()
PLAN = plan.for_snakemake()


rule report:
    input:
        metrics=[f"{run.folder}/metrics.json" for run in PLAN.runs],
        provenance=[f"{run.folder}/provenance.json" for run in PLAN.runs],
        curves=[f"{run.folder}/curves.csv" for run in PLAN.runs],
        cards=plan.cards(PLAN),
    output:
        html="results/report/index.html",
        csv="results/report/leaderboard.csv",
        md="results/report/leaderboard.md",
    log:
        "results/logs/report.log",
    localrule: True
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=closure.digest("stages.report", *(f"benchmarks.{name}" for name in PLAN.datasets)),
        folder=lambda w, output: Path(output.html).parent,
    shell:
        "python -m groundeval --log {log:q} report {input.metrics:q} --out {params.folder:q}"
