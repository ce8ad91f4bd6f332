"""The heads of a game, won or lost; and likelihoods of r."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.probability.coin_bet import CoinBet


def draw(study: CoinBet, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {"heads": _heads, "likelihood": _likelihood}
    for name in study.show:
        yield name, draws[name](study, outcome)


def _heads(study: CoinBet, outcome: Outcome) -> Figure:
    y, p = outcome["probability"].along("heads"), outcome["probability"].values
    won, win = y <= study.win_at_most, outcome["win_probability"].values
    figure, ax = panels()
    ax.bar(y[won], p[won], color="C0", label=f"game won, {win:.4f}")
    ax.bar(y[~won], p[~won], color="C1", hatch="//", label=f"game lost, {1 - win:.4f}")
    ax.set(
        xlabel=f"heads in {study.game_tosses} tosses",
        ylabel=f"probability for r = {outcome['r_of_the_coin'].values:g}",
    )
    if len(y) <= 21:
        ax.set_xticks(y)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _likelihood(study: CoinBet, outcome: Outcome) -> Figure:
    r, curves = outcome["likelihood"].along("r"), outcome["likelihood"].values
    figure, ax = panels()
    for k, (y, n) in enumerate(zip(study.heads, study.tosses, strict=True)):
        low, high = (outcome[f"not_negligible_{end}"].values[k] for end in ("from", "to"))
        label = f"{y} heads in {n} tosses; not negligible from {low:.2f} to {high:.2f}"
        (line,) = ax.plot(r, curves[k], "-" if k % 2 == 0 else "--", label=label)
        inside = (r >= low) & (r <= high)
        colour = line.get_color()
        ax.fill_between(r, curves[k], where=inside, color=colour, alpha=0.15, linewidth=0)
    ax.set(xlabel="probability of a head, r", ylabel="likelihood of r", ylim=(0, None))
    figure.legend(loc="outside lower center")
    return figure
