"""Five policies of the shapes that public repositories have, trained for a minute each without rlcc.

aurora      PPO of Stable-Baselines3 behind VecNormalize, 32 and 16 units with tanh, ten decisions, the send ratio
sac         SAC of Stable-Baselines3, actions from -0.2 to 0.2 that are added to 1
gsde        SAC of Stable-Baselines3 with gSDE, whose mean is cut off before tanh
two-lstms   PyTorch, an LSTM of two layers
gru         PyTorch, LayerNorm and SiLU, then a GRU

Needs stable-baselines3 for the first three: pip install stable-baselines3==2.9.2
python make_models.py        writes NAME/model.zip or NAME/model.pt beside this file

N flows share a link. A flow decides once a round trip by its congestion (RL-CC, equation 4) and the multiplier before;
aurora also by its send ratio, sent over acknowledged bytes.
The network answers for the congestion that follows: where that is too much its output is to be lower. The loss is that
of docs/your-own-policy/train_elsewhere.py; it trains the library's own modules, and the library saves them.
"""

import json
import sys
import zipfile
from pathlib import Path

import gymnasium
import numpy as np
import torch

HERE = Path(__file__).parent
TARGET, BETA, STEPS, LINKS, FLOWS, ROUNDS = 0.064, 1.5, 40, 16, 12, 300
STEP = 0.2


def congestion(inflation, rate):
    return (torch.clamp(inflation - BETA, min=0) * rate.sqrt() - TARGET).clamp(max=4)


def tanh_map(y):
    return torch.where(y > 0, 1 + STEP * y, 1 / (1 - STEP * y))


def added(y):
    return 1 + STEP * y


def send_ratio(load, queue):
    """A busy link delivers at its rate; an idle one all that is sent."""
    return torch.where((queue > 0) | (load > 1), load, 1.0).clamp(max=4)


def episode(decide, multiplier, window, columns, generator):
    """Loss of the decisions of a batch of links; ``decide``: rows [N, window x columns], newest first, to outputs
    [N]."""
    flows = torch.exp(torch.rand(LINKS, 1, generator=generator) * 6.2)
    rate = torch.exp(torch.randn(LINKS, FLOWS, generator=generator)) / flows
    rate = torch.clamp(rate * torch.exp(1.5 * torch.randn(LINKS, 1, generator=generator)), 1e-6, 1)
    queue = 20 * torch.rand(LINKS, 1, generator=generator) ** 4
    action = ratio = torch.ones(LINKS, FLOWS)
    seen = [torch.stack([congestion(1 + queue, rate), action, ratio][:columns], -1)] * window
    loss = 0.0
    for _ in range(STEPS):
        seen = [torch.stack([congestion(1 + queue, rate), action, ratio][:columns], -1), *seen[:-1]]
        y = decide(torch.cat(seen, -1).reshape(LINKS * FLOWS, -1)).reshape(LINKS, FLOWS)
        action = multiplier(y.clamp(-1, 1)).detach()
        rate = torch.clamp(rate * action, 1e-6, 1)
        load = rate.mean(1, keepdim=True) * flows
        ratio = send_ratio(load, queue).expand(LINKS, FLOWS)
        queue = torch.clamp(queue + (load - 1) * (1 + queue), 0, 50)
        off = (congestion(1 + queue, rate) / TARGET).clamp(-1, 1)
        loss = loss + (off * y + 0.5 * y.pow(2)).mean()
    return loss / STEPS


def fit(parameters, start, multiplier, window, columns=2, seed=1):
    """``start``: gives what decides along an episode, with an empty memory."""
    generator = torch.Generator().manual_seed(seed)
    parameters = list(parameters)
    optimiser = torch.optim.Adam(parameters, 0.004)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, ROUNDS)
    for number in range(ROUNDS):
        loss = episode(start(), multiplier, window, columns, generator)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        schedule.step()
        if number % 100 == 99:
            print(f"  round {number + 1}: loss {loss.item():.4f}")


class Spaces(gymnasium.Env):
    """The spaces that a model is built for; it learns a moment in it, as a model that is saved has."""

    def __init__(self, size, high):
        self.observation_space = gymnasium.spaces.Box(-10, 10, (size,), np.float32)
        self.action_space = gymnasium.spaces.Box(-high, high, (1,), np.float32)

    def _row(self):
        return self.np_random.normal(0.5, 0.5, self.observation_space.shape).astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._row(), {}

    def step(self, action):
        return self._row(), 0.0, False, bool(self.np_random.random() < 0.1), {}


def aurora():
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    window, folder = 10, HERE / "aurora"
    venv = VecNormalize(DummyVecEnv([lambda: Spaces(3 * window, 1)]), clip_obs=5.0)
    model = PPO("MlpPolicy", venv, n_steps=64, policy_kwargs={"net_arch": [32, 16]}, seed=1, device="cpu")
    model.learn(64)
    venv.obs_rms.mean = np.tile([0.2, 1.0, 1.0], window)
    venv.obs_rms.var = np.tile([0.25, 0.01, 0.04], window)
    mean = torch.tensor(venv.obs_rms.mean, dtype=torch.float32)
    scale = torch.tensor(1 / np.sqrt(venv.obs_rms.var + venv.epsilon), dtype=torch.float32)

    def decide(rows):
        seen = ((rows - mean) * scale).clamp(-venv.clip_obs, venv.clip_obs)
        return model.policy.get_distribution(seen).distribution.mean[:, 0]

    fit(model.policy.parameters(), lambda: decide, tanh_map, window, columns=3)
    venv.save(str(folder / "vec_normalize.pkl"))
    save(model, folder)


def actor_critic(name, high, multiplier, **options):
    from stable_baselines3 import SAC

    window = 2
    model = SAC(
        "MlpPolicy",
        Spaces(2 * window, high),
        policy_kwargs={"net_arch": [16]},
        learning_starts=20,
        buffer_size=100,
        seed=1,
        device="cpu",
        **options,
    )
    model.learn(24)
    actor = model.policy.actor
    # The actor's output before its spread to the ends of the actions.
    fit(actor.parameters(), lambda: lambda rows: actor(rows, deterministic=True)[:, 0], multiplier, window)
    save(model, HERE / name)


def save(model, folder):
    """As the library does; then `data` without its pickles, which name paths of a machine, and the weights are kept."""
    model.save(folder / "model.zip")
    with zipfile.ZipFile(folder / "model.zip") as archive:
        data, weights = json.loads(archive.read("data")), archive.read("policy.pth")
    for value in data.values():
        if isinstance(value, dict) and ":serialized:" in value:
            value[":serialized:"] = ""
            value.pop("__doc__", None)
    with zipfile.ZipFile(folder / "model.zip", "w") as archive:
        for name, content in (("data", json.dumps(data).encode()), ("policy.pth", weights)):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


class TwoLstms(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = torch.nn.LSTM(2, 12, 2)
        self.head = torch.nn.Linear(12, 1)

    def forward(self, rows, state=None):
        values, state = self.memory(rows, state)
        return torch.tanh(self.head(values)), state


class Gru(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.LayerNorm(16), torch.nn.SiLU())
        self.memory = torch.nn.GRU(16, 12)
        self.head = torch.nn.Linear(12 + 16, 1)

    def forward(self, rows, state=None):
        inputs = self.inputs(rows)
        values, state = self.memory(inputs, state)
        return torch.tanh(self.head(torch.cat([values, inputs], -1))), state


def recurrent(name, network):
    def start():
        state = None

        def decide(rows):
            nonlocal state
            y, state = network(rows[None], state)
            return y[0, :, 0]

        return decide

    fit(network.parameters(), start, tanh_map, 1)
    torch.save(network.state_dict(), HERE / name / "model.pt")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(1)
    makers = {
        "aurora": aurora,
        "sac": lambda: actor_critic("sac", 0.2, added),
        "gsde": lambda: actor_critic("gsde", 1.0, tanh_map, use_sde=True),
        "two-lstms": lambda: recurrent("two-lstms", TwoLstms()),
        "gru": lambda: recurrent("gru", Gru()),
    }
    for name in sys.argv[1:] or makers:
        print(name)
        makers[name]()
