"""A cluster of Ray whose workers, nodes or drivers are killed at random moments.

`python -m tests.engines.ray_kills WHAT KILLS DATA OPTION...` starts a head and two nodes, and runs
`selectron run DATA --engine ray` on them with these options. It prints what the run says, and how
many kills hit something. The options name a checkpoint, so a driver that is killed goes on.
"""

import json
import os
import random
import sys
import time

import selectron.engines.on_ray  # noqa: F401 - sets Ray's variables
from tests.engines.files import children, is_worker, kill, started


def main(what, kills, data, *options):
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - once Ray's variables are set

    draw = random.Random(int(kills))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    options = ("--engine", "ray", "--address", cluster.address, "--json", "-", *options)
    run, hits, tries = started(data, *options), 0, 0
    while hits < int(kills) and tries < 10 * int(kills):
        tries += 1
        time.sleep(draw.uniform(0.0, 3.0 if what == "driver" else 1.5))
        if run.poll() is not None:
            break
        if what == "driver":
            hits += kill(run.pid)
            run.communicate()
            run = started(data, *options)
        elif what == "worker":
            workers = [pid for pid in children(os.getpid()) if is_worker(pid)]
            hits += bool(workers) and kill(draw.choice(workers))
        else:
            cluster.remove_node(nodes.pop(draw.randrange(2)), allow_graceful=False)
            nodes.append(cluster.add_node(num_cpus=1))
            hits += 1
    out, err = run.communicate()
    assert run.returncode == 0, err
    found = {"facts": json.loads(out)["results"][0], "kills": hits}
    print(json.dumps(found), flush=True)  # noqa: T201
    os._exit(0)  # the cluster dies with its network namespace


if __name__ == "__main__":
    main(*sys.argv[1:])
