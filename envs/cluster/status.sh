#!/bin/sh
# status.sh JOB: running, success or failed, as Snakemake asks. It must not fail itself: that would end the whole run.
said=$(scontrol show job --oneliner "$1" 2>&1)
state=$(printf '%s\n' "$said" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p')

case "$state" in
    COMPLETED) echo success ;;
    CANCELLED | DEADLINE | FAILED | OUT_OF_MEMORY | TIMEOUT) echo failed ;;
    BOOT_FAIL | NODE_FAIL | PREEMPTED)
        case "$said" in
            *Requeue=1*) echo running ;; # the scheduler itself starts it anew
            *) echo failed ;;
        esac
        ;;
    "")
        case "$said" in
            # Forgotten by the controller, so it ended long ago; made again, since nobody knows how.
            *"Invalid job id"*) echo failed ;;
            *) echo running ;; # the controller does not answer just now
        esac
        ;;
    *) echo running ;;
esac
