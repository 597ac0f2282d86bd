"""Prices three puts, moves the spot, and explains the next day: python3 price.py"""

import datetime

import feynkac as fk

as_of = datetime.date(2026, 11, 20)
market = {
    "rates": {"EUR": 0.05},
    "underlyings": {"ACME": {"spot": 100, "currency": "EUR", "volatility": 0.2}},
}
# A frame of pandas with these columns may stand here as well.
trades = [
    {
        "id": f"K{strike}",
        "underlying": "ACME",
        "payoff": "put",
        "strike": strike,
        "expiry": datetime.date(2027, 11, 22),
        "exercise": "american",
        "tags": {"desk": "Paris" if strike < 100 else "London"},
    }
    for strike in (90, 100, 110)
]

results = fk.price(
    trades,
    market=market,
    as_of=as_of,
    scenarios={"spot": [-0.1, 0, 0.1]},
    group_by="desk",
    progress=lambda done, total: print(f"{done} of {total}"),
).check()
print(results.frame)
print(results.scenario_frame())
for group in results.groups:
    print(group["group"]["desk"], f"{group['value']:.4f}")

monday = {**market, "underlyings": {"ACME": {**market["underlyings"]["ACME"], "spot": 101}}}
before = {"asOf": as_of, "market": market, "trades": trades}
explained = fk.explain(before, {"asOf": datetime.date(2026, 11, 23), "market": monday})
for row in explained.report["results"]:
    print(row["id"], f"{row['change']:.4f} of which delta {row['terms']['delta']:.4f}")

try:
    fk.price([{**trades[0], "strike": -90}], market=market, as_of=as_of).check()
except fk.BookError as error:
    print(error.path, "is wrong:", error.message)
