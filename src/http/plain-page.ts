/** A page without scripts; it reloads itself after `againSeconds`, if given. `text` and `link` are HTML. */
export function plainPage({
  title,
  text,
  link,
  againSeconds,
}: {
  title: string
  text: string
  link: string
  againSeconds?: number
}): string {
  const refresh = againSeconds === undefined ? '' : `<meta http-equiv="refresh" content="${againSeconds}">\n`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}<meta name="color-scheme" content="light dark">
<title>${title} · Posthorn</title>
<link rel="icon" href="data:,">
<style>
body { font: 15px/1.6 system-ui, sans-serif; margin: 0 }
main { min-height: 90vh; display: grid; place-content: center; max-width: 32rem; margin: auto; padding: 1rem }
h1 { font-size: 1.25rem; margin: 0 }
p { margin: .5rem 0; opacity: .8 }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
<p>${link}</p>
</main>
</body>
</html>
`
}
