/** Enhanced codes (RFC 3463 and its registry) without their first digit, which says temporary (4) or permanent (5). */
const BY_SUBJECT: Readonly<Record<string, string>> = {
  '1.1': 'There is no such mailbox.',
  '1.2': 'There is no such mail domain.',
  '1.3': 'The address is not well-formed.',
  '1.6': 'The mailbox has moved and left no new address.',
  '1.8': 'The domain of the sender does not exist.',
  '1.10': 'The domain accepts no mail (null MX).',
  '2.1': 'The mailbox is disabled.',
  '2.2': 'The mailbox is full.',
  '2.3': 'The mail is larger than this mailbox accepts.',
  '3.1': 'The mail system is full.',
  '3.2': 'The mail system accepts no mail at the moment.',
  '3.4': 'The mail is larger than the mail system accepts.',
  '4.1': 'The recipient’s host does not answer.',
  '4.2': 'The connection to the recipient’s host was lost.',
  '4.4': 'The mail cannot be routed.',
  '4.7': 'The mail waited too long for delivery.',
  '5.3': 'There are too many recipients.',
  '6.0': 'The server cannot handle the content.',
  '7.0': 'A security rule of the server forbids it.',
  '7.1': 'A rule of the server forbids it: greylisting, a blocked sender, or relaying.',
  '7.8': 'The login was refused.',
  '7.9': 'The authentication mechanism is too weak for this account.',
  '7.20': 'No DKIM signature passed.',
  '7.23': 'SPF does not allow this server for the sender’s domain.',
  '7.25': 'The sending host has no matching reverse DNS name.',
  '7.26': 'SPF and DKIM both failed for the sender’s domain.',
  '7.28': 'Too much mail is sent at once.',
}

/** Basic reply codes (RFC 5321, 4.2.3, RFC 4954, RFC 7504), for replies without a known enhanced code. */
const BY_REPLY: Readonly<Record<string, string>> = {
  '421': 'The server is busy or shutting down.',
  '432': 'The server wants a new password for this account.',
  '450': 'The mailbox cannot be used at the moment.',
  '451': 'The server had an internal error, or uses greylisting.',
  '452': 'The server is out of storage.',
  '454': 'Login or TLS is not available at the moment.',
  '503': 'The server did not expect this command now.',
  '521': 'The server accepts no mail at all.',
  '530': 'The server requires a login or TLS first.',
  '534': 'The authentication mechanism is too weak for this account.',
  '535': 'The login was refused.',
  '538': 'The server requires TLS for this login.',
  '550': 'The mailbox does not exist, or a rule of the server forbids it.',
  '551': 'The mailbox is elsewhere.',
  '552': 'The mailbox is full, or the mail too large.',
  '553': 'The address is not allowed.',
  '554': 'The server refuses the mail and gives no reason.',
}

/** What `550 5.1.1` means, in a sentence; null for what is not known. */
export function explainReply(code: string): string | null {
  const [, reply, subject] = /^(\d{3})(?: [245]\.(\d{1,3}\.\d{1,3}))?/.exec(code) ?? []
  return BY_SUBJECT[subject ?? ''] ?? BY_REPLY[reply ?? ''] ?? null
}
