/** Runs Power Query's language M as far as examples/service/prices.pq uses it, with JSON over HTTP. */

type Value = unknown;
type Scope = ReadonlyMap<string, Value>;
type Expression = (scope: Scope) => Promise<Value>;
type Fields = Readonly<Record<string, Value>>;

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

const TOKEN = /\s+|\/\/[^\n]*|(#"[^"]*"|"(?:[^"]|"")*"|\d+(?:\.\d+)?|#?[A-Za-z_][\w.]*|[[\](){},=&])/gy;

/** The functions of the standard library that are known. */
const LIBRARY: Readonly<Record<string, (...args: never[]) => Value>> = {
  "#table": (columns: string[], rows: Value[][]): Table => ({ columns, rows }),
  "Table.ToRecords": ({ columns, rows }: Table) =>
    rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]]))),
  "Table.FromRecords": (records: Fields[], columns: string[]): Table => ({
    columns,
    rows: records.map((record) => columns.map((column) => record[column] ?? null)),
  }),
  "Json.FromValue": (value: Value) => JSON.stringify(value),
  "Json.Document": (text: string): Value => JSON.parse(text),
  "Web.Contents": async (url: string, options: Fields) => {
    const { RelativePath, Headers, Content } = options as {
      RelativePath: string;
      Headers: HeadersInit;
      Content: string;
    };
    // A request with content is a POST.
    const response = await fetch(`${url}/${RelativePath}`, { method: "POST", headers: Headers, body: Content });
    if (!response.ok) throw new Error(`DataSource.Error: ${response.status} ${await response.text()}`);
    return response.text();
  },
};

/** Runs a query. `given` are values in the place of those of its first definitions. */
export async function runQuery(text: string, given: Fields): Promise<Value> {
  const tokens = [...text.matchAll(TOKEN)].flatMap(([, token]) => (token === undefined ? [] : [token]));
  const parser = new Parser(tokens, given);
  return parser.query()(new Map<string, Value>([["MissingField.UseNull", "null"]]));
}

class Parser {
  readonly #tokens: readonly string[];
  readonly #given: Fields;
  #at = 0;

  constructor(tokens: readonly string[], given: Fields) {
    this.#tokens = tokens;
    this.#given = given;
  }

  query(): Expression {
    this.#expect("let");
    const steps: (readonly [string, Expression])[] = [];
    do {
      const name = this.#next();
      this.#expect("=");
      const own = this.#expression();
      steps.push([name, Object.hasOwn(this.#given, name) ? async () => this.#given[name] : own]);
    } while (this.#take(","));
    this.#expect("in");
    const result = this.#expression();
    if (this.#at < this.#tokens.length) throw new Error(`unexpected ${this.#tokens[this.#at]}`);
    return async (scope) => {
      const own = new Map(scope);
      for (const [name, step] of steps) own.set(name, await step(own));
      return result(own);
    };
  }

  #expression(): Expression {
    if (this.#take("if")) {
      const [test, yes, no] = [this.#expression(), this.#after("then"), this.#after("else")];
      return async (scope) => ((await test(scope)) === true ? yes(scope) : no(scope));
    }
    let left = this.#operand();
    for (;;) {
      const first = left;
      if (this.#take("&")) {
        const second = this.#operand();
        left = async (scope) => joined(await first(scope), await second(scope));
      } else if (this.#take("=")) {
        const second = this.#operand();
        left = async (scope) => (await first(scope)) === (await second(scope));
      } else return left;
    }
  }

  #after(word: string): Expression {
    this.#expect(word);
    return this.#expression();
  }

  #operand(): Expression {
    let value = this.#primary();
    while (this.#take("[")) {
      const [of, field] = [value, this.#next()];
      this.#expect("]");
      value = async (scope) => ((await of(scope)) as Fields)[field];
    }
    return value;
  }

  #primary(): Expression {
    const token = this.#next();
    if (token === "(") {
      const inner = this.#expression();
      this.#expect(")");
      return inner;
    }
    if (token === "[") return this.#record();
    if (token === "{") return all(this.#list("}"));
    if (token === "null") return async () => null;
    if (token.startsWith('"')) return async () => token.slice(1, -1).replaceAll('""', '"');
    if (/^\d/.test(token)) return async () => Number(token);
    if (!this.#take("("))
      return async (scope) => {
        if (!scope.has(token)) throw new Error(`the name ${token} is not known`);
        return scope.get(token);
      };
    const args = all(this.#list(")"));
    return async (scope) => LIBRARY[token](...((await args(scope)) as never[]));
  }

  #record(): Expression {
    const fields: (readonly [string, Expression])[] = [];
    while (!this.#take("]")) {
      const name = this.#next().replace(/^#"(.*)"$/, "$1");
      this.#expect("=");
      fields.push([name, this.#expression()]);
      if (!this.#take(",") && this.#tokens[this.#at] !== "]") throw new Error(`unexpected ${this.#tokens[this.#at]}`);
    }
    return async (scope) =>
      Object.fromEntries(await Promise.all(fields.map(async ([name, value]) => [name, await value(scope)] as const)));
  }

  #list(end: string): Expression[] {
    const items: Expression[] = [];
    while (!this.#take(end)) {
      items.push(this.#expression());
      if (!this.#take(",") && this.#tokens[this.#at] !== end) throw new Error(`unexpected ${this.#tokens[this.#at]}`);
    }
    return items;
  }

  #next(): string {
    return this.#tokens[this.#at++];
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw new Error(`expected ${token}, got ${this.#tokens[this.#at]}`);
  }
}

const all =
  (items: readonly Expression[]): Expression =>
  async (scope) =>
    Promise.all(items.map((item) => item(scope)));

/** Joins texts or records, as `&` does. */
const joined = (first: Value, second: Value): Value =>
  typeof first === "string" && typeof second === "string"
    ? first + second
    : { ...(first as Fields), ...(second as Fields) };
