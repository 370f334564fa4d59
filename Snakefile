# The whole pipeline: download -> split -> prepare -> convert -> score -> aggregate -> report.
# What is evaluated stands in params.yaml; what a stage does stands in scripts/groundeval/stages/.

from snakemake.utils import min_version

min_version("9.0")


rule all:
    input:
        "results/report",


include: "scripts/rules/data.smk"
include: "scripts/rules/evaluate.smk"
include: "scripts/rules/report.smk"
