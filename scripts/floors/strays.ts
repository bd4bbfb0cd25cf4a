/** An expression that only certain files may use. */
type Rule = {
  what: string
  pattern: RegExp
  /** The files that may use it. */
  home: RegExp
  instead: string
}

const RULES: readonly Rule[] = [
  {
    what: 'the environment',
    // By name, by key, by an alias of `process`, or from its module.
    pattern:
      /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*(?:\?\.)?\[|=\s*process\b(?!\s*[?.[])|['"](?:node:)?process['"]/g,
    home: /^src\/config\.ts$/,
    instead: 'read it in src/config.ts',
  },
  {
    what: 'the time',
    pattern:
      /\bDate\.now\b|\bnew Date\b(?!\s*\(\s*[^\s)])|(?<![.\w]|new )Date\(|\bTemporal\.Now\b|\bperformance\b|\bhrtime\b|\bset(?:Timeout|Interval)\b|\bAbortSignal\.timeout\b|['"](?:node:)?timers/g,
    home: /^src\/lib\//,
    instead: 'take a Clock',
  },
  {
    what: 'chance',
    pattern: /\bMath\.random\b|\brandom(?:UUID(?:v7)?|Bytes|Int|Fill|FillSync)\b|\bgetRandomValues\b/g,
    home: /^src\/lib\//,
    instead: 'take Random or Ids',
  },
  {
    what: 'SQL',
    pattern:
      /\.query(?:<[^(]*>)?\(|['"`]\s*(?:select\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\(|create\s+(?:table|database|index)\s|alter\s+table\s|drop\s+table\s|truncate\s|listen\s+\w|notify\s+\w|lock\s+table\s)/gi,
    home: /^src\/(?:infra\/|core\/.*(?:\/|-)store\.ts$)/,
    instead: "put it into the room's store.ts",
  },
]

/** The violations in a file, as lines to print. */
export function findStrays(file: string, text: string): string[] {
  const code = text.replace(COMMENT_LINE, '')
  return RULES.filter(rule => !rule.home.test(file)).flatMap(rule =>
    [...code.matchAll(rule.pattern)].map(match => {
      const line = code.slice(0, match.index).split('\n').length
      return `${file}:${line}: ${rule.what} (${match[0].trim()}) has no place here: ${rule.instead}`
    }),
  )
}

/** Lines that are only comments, as the formatter lays them out; lines with code are always checked. */
const COMMENT_LINE = /^[ \t]*(?:\/\/.*|\*(?:[ \t/].*)?|\/\*\*?(?:(?!\*\/[ \t]*\S).)*)$/gm
