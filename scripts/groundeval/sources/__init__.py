"""Reading what users have on disk: folders, JSON, images, ids. The only readers that formats and benchmarks use."""
