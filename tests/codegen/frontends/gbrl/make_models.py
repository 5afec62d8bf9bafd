"""Make the files of this folder with GBRL 1.1.9, which the tests do without:

    pip install gbrl==1.1.9; python tests/codegen/frontends/gbrl/make_models.py

Each model is trained for a few trees on drawn rows. ``predictions.npz`` holds rows and GBRL's own predictions: NAME on
rows of a grid of 1/64, NAME_borders on the rows NAME_border_rows, which have a border, or the float32 next to it.
"""

from pathlib import Path

import gbrl
import numpy as np
import torch
from gbrl.models.actor_critic import ActorCritic
from gbrl.models.gbt import GBTModel

from codegen.frontends.gbrl_binary import parse

FOLDER = Path(__file__).parent
STEP = 64
TREES = {"max_depth": 2, "n_bins": 32, "min_data_in_leaf": 4, "par_th": 2}
PARAMS = {"control_variates": False, "split_score_func": "L2", "generator_type": "Quantile"}
SGD = {"algo": "SGD", "lr": 0.25, "start_idx": 0, "stop_idx": 2}
HALVES = [{**SGD, "stop_idx": 1}, {**SGD, "start_idx": 1, "lr": 0.5}]
LINEAR = {**SGD, "lr": "lin_0.5", "stop_lr": 0.01, "T": 4}
FITTED = {
    "oblivious": ("oblivious", HALVES),
    "greedy": ("greedy", SGD),
    "linear": ("greedy", LINEAR),
}


def gradient(model: GBTModel, inputs: torch.Tensor, targets: torch.Tensor, rounds: int) -> None:
    for _ in range(rounds):
        torch.nn.functional.mse_loss(model(inputs, requires_grad=True), targets).backward()
        model.step(inputs)


def main() -> None:
    rng = np.random.default_rng(4)
    inputs = (rng.integers(-4 * STEP, 4 * STEP + 1, (400, 3)) / STEP).astype(np.float32)
    targets = np.stack([inputs[:, 0] * inputs[:, 1] + inputs[:, 2], np.sin(inputs[:, 0])], axis=1).astype(np.float32)
    x, y = torch.tensor(inputs), torch.tensor(targets)
    models = {}
    for name, (growth, optimizers) in FITTED.items():
        models[name] = GBTModel({**TREES, "grow_policy": growth}, 3, 2, optimizers, PARAMS)
        models[name].fit(inputs, targets, 5)
    models["adam"] = GBTModel({**TREES, "grow_policy": "oblivious"}, 3, 2, {**SGD, "algo": "Adam"}, PARAMS)
    gradient(models["adam"], x, y, 3)
    of_policy = {"policy_algo": "SGD", "policy_lr": 0.25, "start_idx": 0, "stop_idx": 2}
    of_value = {"value_algo": "Adam", "value_lr": 0.1, "start_idx": 2, "stop_idx": 3}
    models["actor-critic"] = ActorCritic({**TREES, "grow_policy": "oblivious"}, 3, 3, of_policy, of_value, True, PARAMS)
    for _ in range(4):
        action, value = models["actor-critic"](x)
        (torch.nn.functional.mse_loss(action, y) + value.mean()).backward()
        models["actor-critic"].step()
    categories = inputs.astype(object)
    categories[:, 2] = np.where(inputs[:, 2] > 0, "high", "low")
    models["categorical"] = GBTModel({**TREES, "grow_policy": "oblivious"}, 3, 2, SGD, PARAMS)
    models["categorical"].fit(categories, targets, 2)
    for name, model in models.items():
        model.save_learner(str(FOLDER / name))
    predictions = {"rows": inputs[:200]}
    for name in (*FITTED, "actor-critic"):
        at_borders = border_rows(name, rng)
        predictions |= {
            name: predicted(name, inputs[:200]),
            f"{name}_border_rows": at_borders,
            f"{name}_borders": predicted(name, at_borders),
        }
    np.savez_compressed(FOLDER / "predictions.npz", **predictions)


def border_rows(name: str, rng: np.random.Generator) -> np.ndarray:
    """Drawn rows with a feature at a border of the model, just below it and just above it."""
    found = parse((FOLDER / f"{name}.gbrl_model").read_bytes(), name)
    asked = np.arange(found.sizes.max_depth) < found.depths[:, None]
    pairs = sorted(set(zip(found.features[asked].tolist(), found.borders[asked].tolist(), strict=True)))
    rows = rng.uniform(-4, 4, (3 * len(pairs), 3)).astype(np.float32)
    for place, (feature, border) in enumerate(pairs):
        below, above = (np.nextafter(np.float32(border), np.float32(end)) for end in (-np.inf, np.inf))
        rows[3 * place : 3 * place + 3, feature] = below, border, above
    return rows


def predicted(name: str, rows: np.ndarray) -> np.ndarray:
    """What GBRL predicts of the rows with the file that was written, the critic's output included."""
    model = gbrl.GBRL_CPP.load(str(FOLDER / f"{name}.gbrl_model"))
    return np.asarray(model.predict(obs=rows, categorical_obs=None, start_tree_idx=0, stop_tree_idx=0))


if __name__ == "__main__":
    main()
