/** Splits text into the tokens of the subset of JavaScript that kernels are usually written in. */

/**
 * An internal error, thrown for text outside the subset of JavaScript that the fast parser knows. acorn then parses the
 * text.
 */
export class Unread extends Error {}

const SPACE = /(?:\s+|\/\/.*|\/\*[^]*?\*\/)*/y;
const TOKEN =
  /[A-Za-z_$][\w$]*|0[xX][\da-fA-F]+\b|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|"[^"\\\n]*"|'[^'\\\n]*'|>>>=|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|=>|==|!=|<=|>=|&&|\|\||\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|<<|>>|\*\*|[-+*/%&|^!~<>=?:;,.(){}[\]]/y;

/**
 * Splits a text into tokens, mostly by regular expressions. Unlike JavaScript code, these run at full speed from their
 * first use.
 */
export class Tokens {
  readonly text: string;
  /** The kind of the current token. Operators and brackets are their own kinds. */
  kind = "";
  token = "";
  start = 0;
  private before = 0;
  private end = 0;

  constructor(text: string) {
    this.text = text;
    this.next();
  }

  /** True if there is a line break before the current token. */
  get onNewLine(): boolean {
    return /[\n\r\u2028\u2029]/.test(this.text.slice(this.before, this.start));
  }

  next(): void {
    this.before = this.end;
    SPACE.lastIndex = this.end;
    SPACE.test(this.text);
    this.start = SPACE.lastIndex;
    if (this.start === this.text.length) {
      this.kind = "end";
      return;
    }
    TOKEN.lastIndex = this.start;
    if (!TOKEN.test(this.text)) throw new Unread();
    this.end = TOKEN.lastIndex;
    this.token = this.text.slice(this.start, this.end);
    this.kind = kindOf(this.token);
    // A name or a digit right after a number belongs to it: 1n, 1_000, 012.
    if (this.kind === "number" && /[\w$.]/.test(this.text.charAt(this.end))) throw new Unread();
  }

  take(kind: string): boolean {
    if (this.kind !== kind) return false;
    this.next();
    return true;
  }

  expect(kind: string): void {
    if (!this.take(kind)) throw new Unread();
  }

  name(): string {
    const { kind, token } = this;
    if (kind !== "name") throw new Unread();
    this.next();
    return token;
  }

  /** Consumes the end of a statement, which may have no semicolon. */
  semicolon(): void {
    if (this.take(";") || this.kind === "}" || this.kind === "end" || this.onNewLine) return;
    throw new Unread();
  }
}

/** The keywords, each of which is a kind of token of its own. Some of them make the text one for acorn. */
const KEYWORDS = new Set(
  (
    "break const continue do else false for if let null return true var void while yield " +
    "arguments async await case catch class debugger default delete enum eval export extends finally function implements " +
    "import in instanceof interface new package private protected public static super switch this throw try typeof with"
  ).split(" "),
);

function kindOf(token: string): string {
  const first = token.charCodeAt(0);
  if (first === 34 || first === 39) return "string";
  if (first >= 48 && first <= 57) return "number";
  if (first === 46 && token.length > 1) return "number";
  if ((first >= 97 && first <= 122) || (first >= 65 && first <= 90) || first === 36 || first === 95)
    return KEYWORDS.has(token) ? token : "name";
  return token;
}
