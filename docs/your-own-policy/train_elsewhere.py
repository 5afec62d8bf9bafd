"""A congestion-control policy as somebody without rlcc would train one: PyTorch, a fluid model, nothing of rlcc.

N flows share a link. A flow decides once a round trip: its rate times 1 + 0.2 y for y > 0, else 1 / (1 - 0.2 y). The
network sees three decisions, the OLDEST first, of each the congestion and the multiplier before, both normalised; its
hidden layers have TANH. It answers for the congestion that follows: where that is too much the output is to be lower.
Writes mine.pt and own.csv, what the network puts out for 1,000 rows.
"""

from pathlib import Path

import torch

WINDOW, TARGET, BETA, STEPS, FLOWS = 3, 0.064, 1.5, 40, 16
SCALE = torch.tensor([2.0, 5.0])
OFFSET = torch.tensor([0.0, 1.0])


def congestion(inflation, rate):
    return torch.clamp(inflation - BETA, min=0) * rate.sqrt() - TARGET


def multiplier(y):
    return torch.where(y > 0, 1 + 0.2 * y, 1 / (1 - 0.2 * y))


def episode(network, generator):
    """A batch of links with 1 to 512 flows each, of which FLOWS are looked at; the loss of their decisions."""
    links = 24
    flows = torch.exp(torch.rand(links, 1, generator=generator) * 6.2)
    rate = torch.exp(torch.randn(links, FLOWS, generator=generator)) / flows
    rate = torch.clamp(rate * torch.exp(1.5 * torch.randn(links, 1, generator=generator)), 1e-6, 1)
    queue = 20 * torch.rand(links, 1, generator=generator) ** 4
    action = torch.ones(links, FLOWS)
    seen = [torch.stack([congestion(1 + queue, rate), action], -1)] * WINDOW
    loss = 0.0
    for _ in range(STEPS):
        seen = [*seen[1:], torch.stack([congestion(1 + queue, rate).clamp(max=4), action], -1)]
        rows = torch.cat([(each - OFFSET) * SCALE for each in seen], -1)
        y = network(rows)[..., 0]
        action = multiplier(y)
        rate = torch.clamp(rate * action, 1e-6, 1)
        # A round trip lasts as long as the queue makes it, and the queue grows all the while.
        load = rate.mean(1, keepdim=True) * flows
        queue = torch.clamp(queue + (load - 1) * (1 + queue), 0, 50)
        off = (congestion(1 + queue, rate) / TARGET).clamp(-1, 1)
        loss = loss + (off.detach() * y + 0.5 * y.pow(2)).mean()
        queue, rate, action = queue.detach(), rate.detach(), action.detach()
    return loss / STEPS


def train(seed=1, rounds=400):
    torch.set_num_threads(1)  # layers this small only wait for one another
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.nn.Linear(2 * WINDOW, 16)
    network = torch.nn.Sequential(
        hidden, torch.nn.Tanh(), torch.nn.Linear(16, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    )
    network.append(torch.nn.Tanh())
    optimiser = torch.optim.Adam(network.parameters(), 0.004)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, rounds)
    for number in range(rounds):
        loss = episode(network, generator)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if number % 100 == 99:
            print(f"round {number + 1}: loss {loss.item():.4f}")
    return network


def own_passes(network, rows=1000):
    """Rows by name, before they are normalised, and what the network puts out."""
    generator = torch.Generator().manual_seed(7)
    table = torch.stack(
        [
            torch.randn(rows, WINDOW, generator=generator) * 0.3,
            1 + 0.1 * torch.randn(rows, WINDOW, generator=generator),
        ],
        -1,
    )
    outputs = network(((table - OFFSET) * SCALE).reshape(rows, -1)).detach()
    names = [f"{name}_{age}" for age in reversed(range(WINDOW)) for name in ("rl_cc_congestion", "previous_action")]
    lines = [",".join([*names, "output"])]
    for row, output in zip(table.reshape(rows, -1).tolist(), outputs[:, 0].tolist(), strict=True):
        lines.append(",".join(repr(value) for value in [*row, output]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    trained = train()
    torch.save(trained.state_dict(), "mine.pt")
    Path("own.csv").write_text(own_passes(trained))
