# Models: prediction files -> predictions, counts of each sample, metrics, provenance. A job is one (benchmark, split, model).
# Of thousands of jobs each function here takes a noticeable time to ask, so there are few.

from pathlib import Path

from groundeval import closure, formats, plan
from groundeval.provenance import results
from groundeval.stages import provenance

PLAN = plan.for_snakemake()
THREADS = plan.threads(PLAN, workflow.resource_settings.cores)  # workflow.cores would forbid `snakemake --unlock`


wildcard_constraints:
    benchmark="[a-z][a-z0-9_]*",
    split="[A-Za-z][A-Za-z0-9_]*",
    model=r"[A-Za-z][A-Za-z0-9._-]*",


rule convert:
    input:
        manifest="data/splits/{benchmark}/{split}.parquet",
        predictions=lambda w: PLAN.of(w).predictions,
    output:
        "results/{benchmark}/{split}/{model}/predictions.parquet",
    log:
        "results/logs/{benchmark}/{split}/{model}/convert.log",
    conda:
        "../../envs/groundeval.yaml"
    threads: THREADS
    params:
        made_by=lambda w: [
            closure.digest("stages.convert", f"benchmarks.{w.benchmark}", formats.module_name(PLAN.of(w).format)),
            plan.content(PLAN.of(w)),
        ],
        said=lambda w: plan.said(PLAN.of(w)),
    shell:
        "python -m groundeval --log {log:q} convert {wildcards.benchmark:q} --cores {threads:q} --manifest {input.manifest:q}"
        " --predictions {input.predictions:q} --out {output:q} {params.said:q}"


rule score:
    input:
        manifest="data/splits/{benchmark}/{split}.parquet",
        truth="data/truth/{benchmark}/{split}.parquet",
        predictions="results/{benchmark}/{split}/{model}/predictions.parquet",
    output:
        samples="results/{benchmark}/{split}/{model}/samples.parquet",
        histograms="results/{benchmark}/{split}/{model}/histograms.parquet",
    log:
        "results/logs/{benchmark}/{split}/{model}/score.log",
    conda:
        "../../envs/groundeval.yaml"
    threads: THREADS
    params:
        code=lambda w: closure.digest("stages.score", f"benchmarks.{w.benchmark}.protocol"),
    shell:
        "python -m groundeval --log {log:q} score --cores {threads:q} --manifest {input.manifest:q} --truth {input.truth:q}"
        " --predictions {input.predictions:q} --model {wildcards.model:q}"
        " --out {output.samples:q} --histograms {output.histograms:q}"


rule aggregate:
    input:
        samples="results/{benchmark}/{split}/{model}/samples.parquet",
        histograms="results/{benchmark}/{split}/{model}/histograms.parquet",
    output:
        metrics=report(
            "results/{benchmark}/{split}/{model}/metrics.json",
            caption="captions/metrics.rst",
            category="{benchmark}",
            subcategory="{split}",
            labels={"model": "{model}"},
        ),
        summary="results/{benchmark}/{split}/{model}/summary.json",
        curves="results/{benchmark}/{split}/{model}/curves.csv",
    log:
        "results/logs/{benchmark}/{split}/{model}/aggregate.log",
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=lambda w: closure.digest("stages.aggregate", f"benchmarks.{w.benchmark}.protocol"),
    shell:
        "python -m groundeval --log {log:q} aggregate --samples {input.samples:q}"
        " --histograms {input.histograms:q} --out {output.metrics:q} --summary {output.summary:q}"
        " --curves {output.curves:q}"


rule provenance:
    input:
        manifest="data/splits/{benchmark}/{split}.parquet",
        truth="data/truth/{benchmark}/{split}.parquet",
        predictions=lambda w: PLAN.of(w).predictions,
        raw=lambda w: PLAN.datasets[w.benchmark].record,
        results=[f"results/{{benchmark}}/{{split}}/{{model}}/{name}" for name in results.PIPELINE],
    output:
        "results/{benchmark}/{split}/{model}/provenance.json",
    log:
        "results/logs/{benchmark}/{split}/{model}/provenance.log",
    conda:
        "../../envs/groundeval.yaml"
    params:
        made_by=lambda w: [
            closure.digest("stages.provenance", *provenance.scorer_modules(w.benchmark, PLAN.of(w).format)),
            plan.content(PLAN.of(w)),
        ],
        folder=lambda w, output: Path(output[0]).parent,
    shell:
        "python -m groundeval --log {log:q} provenance {params.folder:q} --manifest {input.manifest:q}"
        " --truth {input.truth:q} --predictions {input.predictions:q} --raw {input.raw:q} --out {output:q}"
