#!/bin/sh
# status.sh JOB: running, success or failed, as Snakemake asks. It must not fail itself: that would end the whole run.
said=$(scontrol show job --oneliner "$1" 2>&1)
state=$(printf '%s\n' "$said" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p')

case "$state" in
    COMPLETED) echo success ;;
    BOOT_FAIL | CANCELLED | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | TIMEOUT) echo failed ;;
    "")
        case "$said" in
            # Forgotten by the controller, so it ended long ago; made again, since nobody knows how.
            *"Invalid job id"*) echo failed ;;
            *) echo running ;; # the controller does not answer just now
        esac
        ;;
    *) echo running ;;
esac
