"""Posteriors without sampling."""

import numpy as np


def posterior_of(draws, **labels):
    """Return a posterior as PyMC samples one."""
    import arviz  # takes seconds, which each process that collects tests would wait

    return arviz.from_dict({"posterior": draws}, **labels)


def drawn_posterior(model, leave_out=(), seed=2):
    """Return a posterior of 20 draws, whose dims are in another order than the model's."""
    rng, draws, dims = np.random.default_rng(seed), {}, {}
    for v in [*model.free_RVs, *model.deterministics]:
        along = model.named_vars_to_dims.get(v.name) or ()
        if v.name not in leave_out and "__obs__" not in along:
            sizes = [len(model.coords[d]) for d in along[::-1]]
            draws[v.name] = rng.uniform(0.5, 1.5, size=(1, 20, *sizes))
            dims[v.name] = [*along[::-1]]
    coords = {d: [*values] for d, values in model.coords.items() if d != "__obs__"}
    return posterior_of(draws, dims=dims, coords=coords)
