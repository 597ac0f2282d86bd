"""Runs the code cells of a notebook in order, and prints what each shows: python3 notebook.py FILE.ipynb"""

import ast
import json
import sys


def show(source: str, names: dict) -> None:
    """Runs a cell, and prints the value of its last expression as a notebook does."""
    *steps, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        steps, last = [*steps, last], None
    exec(compile(ast.Module(steps, []), "cell", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        if value is not None:
            print(value)


with open(sys.argv[1], encoding="utf-8") as file:
    notebook = json.load(file)
scope: dict = {"__name__": "__main__"}
for cell in notebook["cells"]:
    if cell["cell_type"] == "code":
        show("".join(cell["source"]), scope)
