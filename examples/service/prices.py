"""Prices through `feynkac serve` with requests: python3 prices.py http://127.0.0.1:8080 [TOKEN]"""

import json
import sys

import requests

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
session = requests.Session()
if len(sys.argv) > 2:
    session.headers["Authorization"] = f"Bearer {sys.argv[2]}"


def ask(method, path, body, **options):
    answer = session.request(method, url + path, json=body, timeout=60, **options)
    if not answer.ok:
        raise SystemExit(answer.json()["error"]["message"])
    return answer


def market_at(as_of, spot):
    underlyings = {"ACME": {"spot": spot, "currency": "EUR", "volatility": 0.2}}
    return {"asOf": as_of, "market": {"rates": {"EUR": 0.05}, "underlyings": underlyings}}


# The market is sent once; from then on its hash is enough.
friday = ask("PUT", "/market", market_at("2026-11-20", 100)).json()["market"]
monday = ask("PUT", "/market", market_at("2026-11-23", 101)).json()["market"]
trades = [
    {"id": f"K{strike}", "underlying": "ACME", "payoff": "put", "strike": strike, "expiry": "2027-11-22"}
    for strike in (90, 100, 110)
]

for result in ask("POST", "/price", {"market": friday, "trades": trades}).json()["results"]:
    print(result["id"], f"{result['value']:.4f} {result['delta']:.4f}")

# Results as they come, one a line.
with ask("POST", "/price", {"market": friday, "trades": trades, "stream": True}, stream=True) as answer:
    for line in answer.iter_lines():
        print(json.loads(line)["id"])

books = {"before": {"market": friday, "trades": trades}, "after": {"market": monday}}
for trade in ask("POST", "/explain", books).json()["results"]:
    print(trade["id"], f"{trade['change']:.4f} of which delta {trade['terms']['delta']:.4f}")
