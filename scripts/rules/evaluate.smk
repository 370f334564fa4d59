# Models: prediction files -> predictions, counts of each sample, metrics, provenance. A job is one (benchmark, split, model).

from functools import cache

from groundeval import closure, formats, plan
from groundeval.provenance import results
from groundeval.stages import provenance

PLAN = plan.for_snakemake()
fingerprint = cache(plan.fingerprint)  # two rules ask of the same files
RESULT = "results/{benchmark}/{split}/{model}"


wildcard_constraints:
    benchmark="[a-z][a-z0-9_]*",
    split="[A-Za-z][A-Za-z0-9_]*",
    model=r"[A-Za-z][A-Za-z0-9._-]*",


def run_of(wildcards):
    return PLAN.run(wildcards.benchmark, wildcards.split, wildcards.model)


rule convert:
    input:
        manifest="data/splits/{benchmark}/{split}.parquet",
        predictions=lambda w: run_of(w).predictions,
        adapter=lambda w: run_of(w).reader,
    output:
        RESULT + "/predictions.parquet",
    log:
        "results/logs/{benchmark}/{split}/{model}/convert.log",
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=lambda w: closure.digest(
            "stages.convert", f"benchmarks.{w.benchmark}", formats.module_name(run_of(w).format)
        ),
        format=lambda w: run_of(w).format,
        options=lambda w: plan.sets(run_of(w).options, run_of(w).allow_incomplete),
        content=lambda w: fingerprint(run_of(w).predictions, *run_of(w).reader),
    shell:
        "python -m groundeval --log {log:q} convert {wildcards.benchmark:q} --manifest {input.manifest:q}"
        " --predictions {input.predictions:q} --format {params.format:q} --out {output:q} {params.options:q}"


rule score:
    input:
        manifest="data/splits/{benchmark}/{split}.parquet",
        truth="data/truth/{benchmark}/{split}.parquet",
        predictions=RESULT + "/predictions.parquet",
    output:
        samples=RESULT + "/samples.parquet",
        histograms=RESULT + "/histograms.parquet",
    log:
        "results/logs/{benchmark}/{split}/{model}/score.log",
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=lambda w: closure.digest("stages.score", f"benchmarks.{w.benchmark}.protocol"),
    shell:
        "python -m groundeval --log {log:q} score --manifest {input.manifest:q} --truth {input.truth:q}"
        " --predictions {input.predictions:q} --model {wildcards.model:q}"
        " --out {output.samples:q} --histograms {output.histograms:q}"


rule aggregate:
    input:
        samples=RESULT + "/samples.parquet",
        histograms=RESULT + "/histograms.parquet",
    output:
        metrics=RESULT + "/metrics.json",
        summary=RESULT + "/summary.json",
        curves=RESULT + "/curves.csv",
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
        predictions=lambda w: run_of(w).predictions,
        adapter=lambda w: run_of(w).reader,
        raw=lambda w: PLAN.datasets[w.benchmark].raw + ".json",
        results=[f"{RESULT}/{name}" for name in results.PIPELINE],
    output:
        RESULT + "/provenance.json",
    log:
        "results/logs/{benchmark}/{split}/{model}/provenance.log",
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=lambda w: closure.digest(
            "stages.provenance",
            *provenance.scorer_modules(w.benchmark, run_of(w).format),
        ),
        folder=lambda w, output: output[0].removesuffix("/provenance.json"),
        content=lambda w: fingerprint(run_of(w).predictions, *run_of(w).reader),
    shell:
        "python -m groundeval --log {log:q} provenance {params.folder:q} --manifest {input.manifest:q}"
        " --truth {input.truth:q} --predictions {input.predictions:q} --raw {input.raw:q} --out {output:q}"
