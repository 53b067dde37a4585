#!/usr/bin/env python3
"""Compare counts of instructions with a budget: budget.py BUDGET.json COUNTS.txt [--update]"""
import json
import sys


def main():
    budget_path, counts_path, *flags = sys.argv[1:]
    with open(budget_path) as file:
        budget = json.load(file)
    with open(counts_path) as file:
        counts = {name: int(count) for name, count in (line.split() for line in file)}
    if flags == ["--update"]:
        budget["instructions"] = counts
        with open(budget_path, "w") as file:
            json.dump(budget, file, indent=2)
            file.write("\n")
        return 0
    failed = False
    for name, count in counts.items():
        allowed = budget["instructions"].get(name)
        if allowed is None:
            print(f"{name}: {count}, no budget yet; run with --update")
            failed = True
            continue
        change = 100.0 * (count - allowed) / allowed
        verdict = "ok"
        if change > budget["tolerance_percent"]:
            verdict, failed = "too many", True
        elif change < -budget["tolerance_percent"]:
            verdict = "fewer: lower the budget with --update"
        print(f"{name}: {count} ({change:+.1f} % of {allowed}) {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
