"""Prices by a process of one's own and by a running service. FEYNKAC_COMMAND may name the command."""

import os
import signal
import sys
import tempfile
import threading
import unittest

import feynkac as fk

try:
    import pandas
except ImportError:
    pandas = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

MARKET = {"rates": {"EUR": 0.05}, "underlyings": {"ACME": {"spot": 100, "currency": "EUR", "volatility": 0.2}}}
TRADES = [
    {"id": "A", "underlying": "ACME", "payoff": "call", "strike": 100, "expiry": 1, "tags": {"desk": "Paris"}},
    {"id": "B", "underlying": "ACME", "payoff": "put", "strike": -1, "expiry": 1},
]
BOOK = {"asOf": "2026-11-20", "market": MARKET, "trades": TRADES}
#: Black and Scholes (1973): S = K = 100, r = 5 %, σ = 20 %, one year.
CALL = 10.450583572185565


class Prices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = fk.Session(threads=1)

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def test_prices_errors_and_totals(self):
        seen = []
        results = self.session.price(
            BOOK, group_by="desk", sensitivity_errors=True, progress=lambda done, total: seen.append((done, total))
        )
        table = results.table
        self.assertAlmostEqual(table["value"][0], CALL, delta=1e-9)
        self.assertEqual((results.priced, results.failed, len(results)), (1, 1, 2))
        self.assertAlmostEqual(results.totals[0]["value"], CALL, delta=1e-9)
        self.assertEqual(results.groups[0]["group"], {"desk": "Paris"})
        self.assertEqual(table["tag.desk"], ["Paris", None])
        self.assertIn("sensitivityErrorEstimates.vega", table.columns)
        self.assertEqual([error.path for error in results.errors], ["trades[1].strike"])
        self.assertEqual(seen[-1], (2, 2))
        self.assertEqual(results.device["backend"], "cpu")
        self.assertIn("1 priced, 1 failed", repr(results))

    def test_scenarios(self):
        results = self.session.price({**BOOK, "trades": TRADES[:1]}, scenarios={"spot": [-0.1, 0]})
        frame = results.scenario_frame()
        self.assertEqual(list(frame["spot"]), [-0.1, 0])
        self.assertAlmostEqual(list(frame["value"])[1], CALL, delta=1e-4)

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed")
    def test_arrow_and_lines_are_one_table(self):
        scenarios = {"spot": [-0.1, 0]}
        both = [self.session.price(BOOK, transport=name, scenarios=scenarios) for name in ("arrow", "json")]
        self.assertEqual(both[0].table, both[1].table)
        self.assertEqual(both[0].arrow.schema.remove_metadata(), both[1].arrow.schema)
        self.assertEqual(both[0].totals, both[1].totals)
        self.assertEqual(both[0].scenarios, both[1].scenarios)
        self.assertEqual(both[0].as_of, both[1].as_of)

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_frames_in_and_out(self):
        trades = pandas.DataFrame(TRADES[:1]).set_index("id").drop(columns="tags")
        for transport in ("auto", "json"):
            frame = self.session.price(trades, market=MARKET, as_of="2026-11-20", transport=transport).frame
            self.assertIsInstance(frame, pandas.DataFrame)
            self.assertEqual(str(frame.dtypes["value"]), "float64")
            self.assertAlmostEqual(frame["value"][0], CALL, delta=1e-9)

    def test_results_as_they_come(self):
        records = list(self.session.stream(BOOK))
        self.assertEqual([(record["id"], record["status"]) for record in records], [("A", "ok"), ("B", "error")])

    def test_errors_have_a_path(self):
        cases = [({"accuracy": 1.0}, "options.accuracy"), ({"method": "magic"}, "method"), ({"as_of": "today"}, "asOf")]
        for options, path in cases:
            with self.assertRaises(fk.BookError) as caught:
                self.session.price(BOOK, **options)
            self.assertEqual(caught.exception.path, path)

    def test_explain(self):
        after = {"asOf": "2026-11-23", "market": {**MARKET, "rates": {"EUR": 0.06}}}
        trades = [{**TRADES[0], "expiry": "2027-11-20"}]
        explanation = self.session.explain({**BOOK, "trades": trades}, after, method="revaluation", group_by="desk")
        frame = explanation.frame
        self.assertAlmostEqual(frame["change"][0], explanation.totals[0]["change"])
        self.assertIn("rate", list(frame.columns))

    def test_calibrate_and_report(self):
        quotes = [{"expiry": expiry, "strike": 100, "implied": 0.2} for expiry in (0.5, 1)]
        quotes += [{"expiry": expiry, "strike": strike, "implied": 0.21} for expiry in (0.5, 1) for strike in (80, 120)]
        volatility = {"quotes": quotes, "fit": "ssvi"}
        market = {**MARKET, "underlyings": {"ACME": {**MARKET["underlyings"]["ACME"], "volatility": volatility}}}
        calibration = self.session.calibrate({"asOf": "2026-11-20", "market": market})
        self.assertNotIn("quotes", calibration.book["market"]["underlyings"]["ACME"]["volatility"])
        with tempfile.TemporaryDirectory() as folder:
            path = self.session.report(os.path.join(folder, "report.html"), BOOK)
            with open(path, encoding="utf-8") as file:
                self.assertIn("<html", file.read(1000))

    def test_timeouts_and_cancelled_runs_leave_the_session_in_order(self):
        with self.assertRaises(fk.TimeoutError):
            self.session.price(BOOK, timeout=1e-6)
        process = self.session._process
        many = [{**TRADES[0], "id": str(i), "strike": 50 + i / 100} for i in range(20000)]

        def stop(done, total):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.session.price({**BOOK, "trades": many}, progress=stop)
        self.assertEqual(self.session.price(BOOK).priced, 1)
        self.assertIs(self.session._process, process)

    @unittest.skipIf(os.name == "nt", "Windows has no os.kill with SIGINT")
    def test_ctrl_c_ends_a_request_that_waits(self):
        average = {"kind": "arithmetic", "dates": [i / 250 for i in range(1, 251)]}
        slow = [{**TRADES[0], "id": str(i), "average": average, "strike": 90 + i} for i in range(30)]
        timer = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            self.session.price({**BOOK, "trades": slow}, accuracy=1e-5)
        self.assertEqual(self.session.price(BOOK).priced, 1)

    def test_a_process_that_died_is_started_again(self):
        with fk.Session(threads=1) as session:
            self.assertTrue(session.health())
            session._process._process.kill()
            session._process._process.wait()
            self.assertEqual(session.price(BOOK).priced, 1)
            process = session._process
        self.assertFalse(process.is_running)

    def test_an_answer_that_breaks_off_is_an_error(self):
        many = [{**TRADES[0], "id": str(i), "strike": 50 + i / 100} for i in range(20000)]
        for transport in ("auto", "json"):
            with fk.Session(threads=1) as session:

                def kill(done, total):
                    session._process._process.kill()

                with self.assertRaisesRegex(fk.ConnectionError, "broke off"):
                    session.price({**BOOK, "trades": many}, progress=kill, transport=transport)

    def test_a_running_service(self):
        url, token = self.session._place()
        with fk.Session(url, token=token) as other:
            self.assertEqual(other.price(BOOK).priced, 1)
            with self.assertRaisesRegex(fk.NotSupportedError, "feynkac.calibrate"):
                other.calibrate(BOOK)
        self.assertTrue(self.session.health())
        with self.assertRaises(fk.AccessError):
            fk.Session(url).price(BOOK)
        for address in ("http://127.0.0.1:9", "127.0.0.1"):
            with self.assertRaises(fk.ConnectionError):
                fk.Session(address).health()

    def test_commands_and_devices_that_are_not_there(self):
        with self.assertRaisesRegex(fk.StartError, "no-such-command"):
            fk.Session(command=["no-such-command"]).health()
        with self.assertRaisesRegex(fk.StartError, "what is wrong"):
            fk.Session(command=[sys.executable, "-c", "import sys; sys.exit('what is wrong')"]).health()
        script = "import sys; sys.exit('feynkac: CUDA: the driver is not here; install it')"
        with self.assertRaisesRegex(fk.DeviceError, "the driver is not here"):
            fk.Session(command=[sys.executable, "-c", script], backend="cuda").health()


if __name__ == "__main__":
    unittest.main()
