/**
 * The output of a first start: the test key of the demo account, shown only once, and a command that sends
 * with it.
 */
export function welcome(url: string, testKey: string): string {
  return `
Posthorn is ready, with its console, at ${url}  (documentation: ${url}/docs)

The test key of the account "Demo", shown only once:

  ${testKey}

Send a first message (a test key sends only to the sandbox, and costs nothing):

  curl -s '${url}/api/v2/messages/send' \\
    -H 'X-API-Key: ${testKey}' \\
    -H 'Content-Type: application/json' \\
    -d '{"to": "+12025550123", "text": "Hello from Posthorn"}'

`
}
