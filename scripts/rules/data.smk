# Datasets: official files -> manifest and truth tables.

from groundeval import closure, plan

PLAN = plan.for_snakemake()


wildcard_constraints:
    benchmark="[a-z][a-z0-9_]*",
    version=r"[A-Za-z][A-Za-z0-9._-]*",
    split="[A-Za-z][A-Za-z0-9_]*",
    model=r"[A-Za-z][A-Za-z0-9._-]*",


rule download:
    input:
        unpack(lambda w: plan.download_inputs(PLAN, w.benchmark)),
    output:
        raw=directory("data/raw/{benchmark}/{version}"),
        said="data/raw/{benchmark}/{version}.json",
    log:
        "results/logs/{benchmark}/download-{version}.log",
    localrule: True
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=lambda w: closure.digest("stages.download", f"benchmarks.{w.benchmark}.demo"),
        where=lambda w: plan.origin(PLAN, w.benchmark),
    shell:
        "python -m groundeval --log {log:q} download {wildcards.benchmark:q} --version {wildcards.version:q}"
        " --out {output.raw:q} {params.where:q}"


rule split:
    input:
        raw=lambda w: PLAN.datasets[w.benchmark].raw,
        memory=closure.memory(),
    output:
        "data/splits/{benchmark}/{split}.parquet",
    log:
        "results/logs/{benchmark}/split-{split}.log",
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=lambda w: closure.digest("stages.split", f"benchmarks.{w.benchmark}.truth"),
        options=lambda w: plan.sets(PLAN.datasets[w.benchmark].options),
        version=lambda w: PLAN.datasets[w.benchmark].version,
    shell:
        "python -m groundeval --log {log:q} split {wildcards.benchmark:q} --split {wildcards.split:q}"
        " --raw {input.raw:q} --dataset {params.version:q} --out {output:q} {params.options:q}"


rule prepare:
    input:
        raw=lambda w: PLAN.datasets[w.benchmark].raw,
        manifest="data/splits/{benchmark}/{split}.parquet",
    output:
        "data/truth/{benchmark}/{split}.parquet",
    log:
        "results/logs/{benchmark}/prepare-{split}.log",
    conda:
        "../../envs/groundeval.yaml"
    params:
        code=lambda w: closure.digest("stages.prepare", f"benchmarks.{w.benchmark}.truth"),
    shell:
        "python -m groundeval --log {log:q} prepare --raw {input.raw:q} --manifest {input.manifest:q}"
        " --out {output:q}"
