"""Books from what Python has, without a service."""

import datetime
import decimal
import fractions
import json
import math
import os
import tempfile
import unittest

from feynkac import BookError, Table, read_book
from feynkac.plain import plain
from feynkac.results import results_of_lines

try:
    import pandas
except ImportError:
    pandas = None
try:
    import numpy
except ImportError:
    numpy = None

MARKET = {"rates": {"EUR": 0.05}, "underlyings": {"ACME": {"spot": 100, "currency": "EUR", "volatility": 0.2}}}
TRADE = {"id": "A", "underlying": "ACME", "payoff": "put", "strike": 100, "expiry": 1}
BOOK = {"asOf": "2026-11-20", "market": MARKET, "trades": [TRADE]}


class Values(unittest.TestCase):
    def test_dates_and_numbers(self):
        zone = datetime.timezone(datetime.timedelta(hours=1))
        self.assertEqual(plain(datetime.date(2026, 11, 20)), "2026-11-20")
        self.assertEqual(plain(datetime.datetime(2026, 11, 20, 16, tzinfo=zone)), "2026-11-20T16:00:00.000+01:00")
        self.assertEqual(plain(datetime.datetime(2026, 11, 20)), "2026-11-20T00:00:00.000")
        self.assertEqual(plain([decimal.Decimal("0.1"), fractions.Fraction(1, 4), True, 3]), [0.1, 0.25, True, 3])

    def test_missing_fields_are_left_out_and_lists_keep_them(self):
        self.assertEqual(plain({"a": None, "b": {"c": None}, "d": [None, 1]}), {"b": {}, "d": [None, 1]})

    def test_what_has_no_json_form_is_an_error_with_its_path(self):
        for value in (math.nan, math.inf, decimal.Decimal("NaN"), object(), b"x", datetime.timedelta(1)):
            with self.assertRaises(BookError) as caught:
                plain({"trades": [{"strike": value}]})
            self.assertEqual(caught.exception.path, "trades[0].strike")
        with self.assertRaises(BookError) as caught:
            plain({"a": math.nan})
        self.assertEqual(caught.exception.remedy, "leave the field out, or give None, if it is missing")

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy(self):
        values = [numpy.float64(0.5), numpy.float32(0.5), numpy.int64(3), numpy.bool_(True), numpy.array([1.0, 2.0])]
        self.assertEqual(plain(values), [0.5, 0.5, 3, True, [1.0, 2.0]])
        self.assertEqual(json.dumps(plain(values)), "[0.5, 0.5, 3, true, [1.0, 2.0]]")
        self.assertEqual(plain(numpy.datetime64("2027-01-02")), "2027-01-02")
        self.assertEqual(plain(numpy.datetime64("2027-01-02T10:30")), "2027-01-02T10:30:00.000")
        self.assertIsNone(plain(numpy.datetime64("NaT")))
        with self.assertRaises(BookError):
            plain({"a": numpy.array([1.0, numpy.nan])})


class Books(unittest.TestCase):
    def test_a_dict_and_json_text_are_one_book(self):
        self.assertEqual(read_book(BOOK), BOOK)
        self.assertEqual(read_book(json.dumps(BOOK)), BOOK)
        self.assertEqual(read_book(trades=[TRADE], market=MARKET, as_of=datetime.date(2026, 11, 20)), BOOK)

    def test_arguments_take_precedence(self):
        book = read_book(BOOK, as_of="2026-11-21", scenarios={"spot": (0, 0.1)}, method="fdm", seed=3)
        self.assertEqual((book["asOf"], book["method"], book["seed"]), ("2026-11-21", "fdm", 3))
        self.assertEqual(book["scenarios"], {"spot": [0, 0.1]})
        self.assertNotIn("seed", BOOK)

    def test_tables_with_dotted_columns(self):
        columns = {"id": ["A", "B"], "payoff": ["put", None], "payoff.digital": ["", "call"], "tag.desk": ["P", None]}
        book = read_book(Table(columns), market=MARKET, as_of="2026-11-20")
        first = {"id": "A", "payoff": "put", "tags": {"desk": "P"}}
        self.assertEqual(book["trades"], [first, {"id": "B", "payoff": {"digital": "call"}}])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:

            def path(name):
                return os.path.join(folder, name)

            def write(name, text):
                with open(path(name), "w", encoding="utf-8") as file:
                    file.write(text)

            write("book.json", json.dumps(BOOK))
            write("book.ndjson", "\n".join(json.dumps(part) for part in ({**BOOK, "trades": None}, TRADE)))
            write("trades.csv", "id,underlying,payoff,strike,expiry\n007,ACME,put,100,1\nB,ACME,put,9e1,1Y\n")
            write("market.json", json.dumps({"asOf": "2026-11-20", "market": MARKET}))
            self.assertEqual(read_book(path("book.json")), BOOK)
            self.assertEqual(read_book(path("book.ndjson")), BOOK)
            trades = read_book(path("trades.csv"), market=path("market.json"))["trades"]
            self.assertEqual(trades[0], {**TRADE, "id": "007"})
            self.assertEqual((trades[1]["strike"], trades[1]["expiry"]), (90.0, "1Y"))

    def test_errors_say_what_to_do(self):
        cases = [
            (lambda: read_book("missing.json"), "cannot read the book 'missing.json'"),
            (lambda: read_book('{"asOf": '), "this is not JSON"),
            (lambda: read_book('{"asOf": 1, "asOf": 2}'), "there twice"),
            (lambda: read_book([TRADE]), "market: expected a market"),
            (lambda: read_book({"market": MARKET}), "trades: expected a list of trades"),
            (lambda: read_book(42), "expected a book as a dict, a path, JSON text or a frame"),
            (lambda: read_book([TRADE], trades=[TRADE], market=MARKET), "got trades twice"),
            (lambda: read_book({**BOOK, "trades": {"id": 1}}), "expected a frame or a list of trades"),
        ]
        for act, message in cases:
            with self.assertRaisesRegex(BookError, message):
                act()

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_frames_of_pandas(self):
        trades = pandas.DataFrame(
            {
                "id": ["A", "B"],
                "underlying": "ACME",
                "payoff": "put",
                "strike": [100, 90.5],
                "expiry": pandas.to_datetime(["2027-11-20T00:00", "2027-11-20T10:30"]),
                "exercise": [None, "american"],
                "quantity": [float("nan"), 2],
            }
        ).set_index("id")
        underlyings = pandas.DataFrame({"spot": [100], "currency": "EUR", "volatility": 0.2, "dividends.yield": 0.01})
        underlyings.index = pandas.Index(["ACME"], name="underlying")
        market = {"underlyings": underlyings, "rates": pandas.Series({"EUR": 0.05})}
        book = read_book(trades, market=market, as_of=pandas.Timestamp("2026-11-20T16:00Z"))
        self.assertEqual(book["asOf"], "2026-11-20T16:00:00.000+00:00")
        self.assertEqual(book["trades"][0], {**TRADE, "expiry": "2027-11-20"})
        self.assertEqual(book["trades"][1]["expiry"], "2027-11-20T10:30:00.000")
        self.assertEqual((book["trades"][1]["quantity"], book["trades"][1]["exercise"]), (2, "american"))
        expected = {"spot": 100, "currency": "EUR", "volatility": 0.2, "dividends": {"yield": 0.01}}
        self.assertEqual(book["market"], {"underlyings": {"ACME": expected}, "rates": {"EUR": 0.05}})
        curve = pandas.DataFrame({"currency": "EUR", "date": ["1Y", "2Y"], "zero": [0.02, 0.03]})
        rates = read_book(trades, market={**MARKET, "rates": curve}, as_of="2026-11-20")["market"]["rates"]
        self.assertEqual(rates["EUR"], [{"date": "1Y", "zero": 0.02}, {"date": "2Y", "zero": 0.03}])
        with self.assertRaisesRegex(BookError, "'id' is there twice"):
            read_book(pandas.DataFrame([["A", "B"]], columns=["id", "id"]), market=MARKET)


class Tables(unittest.TestCase):
    def test_rows_columns_and_a_picture(self):
        table = Table({"id": ["A", "B"], "value": [1.5, None], "warnings": [[], []]})
        self.assertEqual((len(table), table.shape, table.columns), (2, (2, 3), ["id", "value", "warnings"]))
        self.assertEqual(table["value"], [1.5, None])
        self.assertEqual(table[1], {"id": "B", "value": None, "warnings": []})
        self.assertEqual(table.rows[0], ("A", 1.5, []))
        self.assertEqual(table.to_dicts()[0]["id"], "A")
        self.assertEqual(repr(table).splitlines()[-1], "[2 rows, 3 columns]")
        self.assertEqual(len(repr(Table({"n": range(100)})).splitlines()), 23)
        with self.assertRaises(KeyError):
            table["values"]

    def test_results_of_lines(self):
        columns = ["id", "status", "value", "warnings", "error", "tag.desk", "tag.n", "keyRates", "scenarios"]
        record = {"id": "A", "status": "ok", "value": 2, "warnings": [], "tags": {"desk": "P", "n": 7}}
        record.update({"keyRates": [["1Y", 0.5]], "scenarios": [[[[1, None]], [[2, 3]]]]})
        bad = {"id": None, "status": "error", "value": None, "warnings": [], "error": {"message": "trades[1].id: x"}}
        scenarios = {"spot": [0, 1], "rate": [0, 1]}
        about = {"columns": columns, "priced": 1, "failed": 1, "scenarios": scenarios, "totals": []}
        results = results_of_lines([record, bad], about)
        expected = ("A", "ok", 2.0, [], None, "P", "7", '[["1Y",0.5]]', [1.0, None, 2.0, 3.0])
        self.assertEqual(results.table.rows[0], expected)
        self.assertEqual([(error.path, error.id) for error in results.errors], [("trades[1].id", None)])
        with self.assertRaises(BookError):
            results.check()
        frame = results.scenario_frame()
        self.assertEqual(list(frame["spot"]), [0, 0, 1, 1])
        self.assertEqual([list(frame["value"])[i] for i in (0, 2, 3)], [1.0, 2.0, 3.0])
        self.assertEqual(list(frame["rate"]), [0, 1, 0, 1])


if __name__ == "__main__":
    unittest.main()
