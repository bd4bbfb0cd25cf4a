/** The placeholder of an unknown key. */
export const SOME_KEY = 'YOUR_API_KEY'

/** Code for a send, in several languages. */
export function sendSnippets(
  body: object,
  apiKey: string = SOME_KEY,
): Record<'curl' | 'TypeScript' | 'Python', string> {
  const url = `${location.origin}/api/v2/messages/send`
  const json = JSON.stringify(body, null, 2)
  return {
    curl: [
      `curl -s ${url} \\`,
      `  -H 'X-API-Key: ${apiKey}' \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d ${shellQuoted(json)}`,
    ].join('\n'),
    TypeScript: `const response = await fetch('${url}', {
  method: 'POST',
  headers: { 'X-API-Key': '${apiKey}', 'Content-Type': 'application/json' },
  body: JSON.stringify(${indented(json, 2)}),
})
console.log(await response.json())`,
    Python: `import json, urllib.request

request = urllib.request.Request(
    "${url}",
    headers={"X-API-Key": "${apiKey}", "Content-Type": "application/json"},
    data=json.dumps(${indented(toPython(json), 4)}).encode(),
)
print(json.load(urllib.request.urlopen(request)))`,
  }
}

/** Quotes text for a shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`)
}

/** Converts JSON to Python: they differ only in three literals. */
function toPython(json: string): string {
  const words: Record<string, string> = { true: 'True', false: 'False', null: 'None' }
  return json.replaceAll(/"(?:\\.|[^"\\])*"|\b(?:true|false|null)\b/g, token => words[token] ?? token)
}
