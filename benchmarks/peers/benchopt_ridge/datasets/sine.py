import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "sine"
    parameters = {"seed": list(range(10))}

    def get_data(self):
        rng = np.random.default_rng(self.seed)
        x = np.linspace(0, 1, 10)
        return {"x": x, "t": np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal(10)}
