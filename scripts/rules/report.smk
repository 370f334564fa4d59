# The leaderboards over all runs of params.yaml: one folder, whose pages depend on which benchmarks and splits there are.

from groundeval import closure, plan
from groundeval.stages import dvc

dvc.check_in_stage()
PLAN = plan.for_snakemake()


rule report:
    input:
        metrics=[f"{run.folder}/metrics.json" for run in PLAN.runs],
        provenance=[f"{run.folder}/provenance.json" for run in PLAN.runs],
        tables=[f"{run.folder}/{name}" for run in PLAN.runs for name in plan.REPORTED],
        datasets=plan.pictured(PLAN),
        cards=plan.cards(PLAN),
    output:
        report(
            directory("results/report"),
            htmlindex="index.html",
            caption="captions/report.rst",
            category="Leaderboards",
            labels={"holds": "all leaderboards"},
        ),
    log:
        "results/logs/report.log",
    localrule: True
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=closure.digest(*plan.reporting(PLAN)),
        runs="params.yaml",
    shell:
        "python -m groundeval --log {log:q} report {params.runs:q} --out {output:q}"
