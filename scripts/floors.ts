// What dependency-cruiser cannot see: words that belong to some rooms alone.
// Prints every place where one stands elsewhere, and fails when there is any.
import { globSync, readFileSync } from 'node:fs'

type Rule = {
  what: string
  pattern: RegExp
  /** Where it is at home. */
  home: RegExp
  instead: string
}

const RULES: readonly Rule[] = [
  {
    what: 'the environment',
    pattern: /\bprocess\.env\b/g,
    home: /^src\/config\.ts$/,
    instead: 'read it in src/config.ts',
  },
  {
    what: 'the time',
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bset(?:Timeout|Interval)\b|node:timers/g,
    home: /^src\/lib\//,
    instead: 'take a Clock',
  },
  {
    what: 'chance',
    pattern: /\bMath\.random\b|\brandom(?:UUID|Bytes|Int|Fill|FillSync)\b|\bgetRandomValues\b/g,
    home: /^src\/lib\//,
    instead: 'take Random or Ids',
  },
  {
    what: 'SQL',
    pattern:
      /['"`]\s*(?:select\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\(|create\s+(?:table|database|index)\s|alter\s+table\s|drop\s+table\s|truncate\s|listen\s+\w|notify\s+\w|lock\s+table\s)/gi,
    home: /^src\/(?:infra\/|core\/.*(?:^|\/|-)store\.ts$)/,
    instead: "put it into the room's store.ts",
  },
]

const found = globSync('src/**/*.ts').flatMap(file => check(file.replaceAll('\\', '/')))
for (const line of found) console.error(line)
if (found.length > 0) process.exitCode = 1

function check(file: string): string[] {
  const code = withoutComments(readFileSync(file, 'utf8'))
  return RULES.filter(rule => !rule.home.test(file)).flatMap(rule =>
    [...code.matchAll(rule.pattern)].map(match => {
      const line = code.slice(0, match.index).split('\n').length
      return `${file}:${line}: ${rule.what} (${match[0].trim()}) has no place here: ${rule.instead}`
    }),
  )
}

/** Comments become blanks of the same length, so that lines keep their numbers; strings stay. */
function withoutComments(code: string): string {
  return code.replace(/(['"`])(?:\\.|(?!\1)[^\\])*\1|\/\/.*|\/\*[\s\S]*?\*\//g, text =>
    text.startsWith('/') ? text.replaceAll(/[^\n]/g, ' ') : text,
  )
}
