#!/usr/bin/env python3
"""Write the benchmark inputs: gen.py DIR ROWS

orders.csv      ROWS lines: order_id int, customer_id int, sku string, region string, qty int, price with two digits,
                ordered_at date, note text (every 50th is quoted and holds a comma and a doubled quote)
orders_bad.csv  the same with 2% of the qty cells not a number

The same ROWS give the same bytes. A file appears under its name only when it is complete.
"""
import os
import random
import sys

REGIONS = ["north", "south", "east", "west", "emea", "apac", "latam"]
WORDS = "fast quiet amber stone river copper light north early broken paper signal harbor maple orbit".split()
HEADER = "order_id,customer_id,sku,region,qty,price,ordered_at,note\n"
MOST_ROWS = 50_000_000


def note(rng, row):
    """The cell of a note, quoted where it has to be."""
    text = " ".join(WORDS[rng.randrange(15)] for _ in range(rng.randrange(2, 8)))
    if row % 50:
        return text
    text = f'{text}, "{WORDS[row % 15]}" size'
    return '"' + text.replace('"', '""') + '"'


def write(folder, rows):
    """Write both files into `folder`."""
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(7)
    customers = int(max(1, rows // 20) * 1.1) + 1
    ids = list(range(1, rows + 1))
    rng.shuffle(ids)
    names = [os.path.join(folder, name) for name in ("orders.csv", "orders_bad.csv")]
    with open(names[0] + ".part", "w", newline="") as good, open(names[1] + ".part", "w", newline="") as bad:
        good.write(HEADER)
        bad.write(HEADER)
        for row, order in enumerate(ids):
            customer = rng.randrange(1, customers)
            sku = f"SKU-{rng.randrange(50000):05d}"
            region = REGIONS[rng.randrange(7)]
            qty = rng.randrange(1, 40)
            price = f"{rng.randrange(100, 99999) / 100:.2f}"
            day = f"20{rng.randrange(20, 26)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
            text = note(rng, row)
            good.write(f"{order},{customer},{sku},{region},{qty},{price},{day},{text}\n")
            bad_qty = f"x{qty}" if rng.random() < 0.02 else qty
            bad.write(f"{order},{customer},{sku},{region},{bad_qty},{price},{day},{text}\n")
    for name in names:
        os.replace(name + ".part", name)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[2].isdigit() or not 0 < int(sys.argv[2]) <= MOST_ROWS:
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]))
