#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of scripts/nccl: collectives and data-parallel training over NCCL, and digests of every result.

usage: nccl_rank.py RANK RANKS PORT OUT

Rank 0 listens at PORT of the loopback for the others. A line of OUT is the name of a result and the SHA-256 of
its bytes. What goes in depends on the rank and on nothing else, so that two runs over different networks must
write the same lines.
"""

import hashlib
import sys

import torch
import torch.distributed as dist

ELEMENTS = (1, 1000, 65536, 4 * 1024 * 1024)
STEPS = 20


def digest(tensor):
    data = tensor.detach().reshape(-1).contiguous().view(torch.uint8).cpu().numpy().tobytes()
    return hashlib.sha256(data).hexdigest()


def numbers(rank, elements, dtype):
    """What a rank brings along: the same in every run, different on every rank."""
    generator = torch.Generator().manual_seed(1000 * rank + elements)
    if dtype.is_floating_point:
        return torch.randn(elements, generator=generator).to(dtype).cuda()
    return torch.randint(-1000, 1000, (elements,), generator=generator).to(dtype).cuda()


def collectives(rank, ranks, tell):
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        for elements in ELEMENTS:
            name = f"{str(dtype).removeprefix('torch.')}/{elements}"
            mine = numbers(rank, elements, dtype)
            total = mine.clone()
            dist.all_reduce(total)
            # The sum is known without any network: both inputs can be made here.
            if ranks == 2 and not torch.equal(total, numbers(0, elements, dtype) + numbers(1, elements, dtype)):
                raise SystemExit(f"all_reduce {name}: the sum is wrong")
            tell(f"all_reduce/{name}", total)
            everybody = [torch.empty_like(mine) for _ in range(ranks)]
            dist.all_gather(everybody, mine)
            tell(f"all_gather/{name}", torch.cat(everybody))
            first = mine.clone()
            dist.broadcast(first, src=0)
            tell(f"broadcast/{name}", first)
            if elements % ranks == 0:
                part = torch.empty(elements // ranks, dtype=dtype, device="cuda")
                dist.reduce_scatter_tensor(part, mine.clone())
                tell(f"reduce_scatter/{name}", part)
                swapped = torch.empty_like(mine)
                dist.all_to_all_single(swapped, mine)
                tell(f"all_to_all/{name}", swapped)


def training(rank, tell):
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(STEPS):
        generator = torch.Generator().manual_seed(100 * step + rank)
        x = torch.randn(64, 512, generator=generator).cuda()
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        tell(f"ddp/loss/{step}", loss)
    for name, parameter in model.named_parameters():
        tell(f"ddp/{name}", parameter)


def main():
    rank, ranks, port, out = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.use_deterministic_algorithms(True)
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    with open(out, "w", encoding="utf-8") as file:
        def tell(name, tensor):
            print(name, digest(tensor), file=file)
        collectives(rank, ranks, tell)
        training(rank, tell)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
