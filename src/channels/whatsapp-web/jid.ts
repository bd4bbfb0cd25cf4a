/** The chat app's addresses: `12025550123@s.whatsapp.net` is a person, `…@g.us` a group, `…@lid` a person without a number. */

const PERSON = /^(\d{5,15})(?::\d+)?@(?:s\.whatsapp\.net|c\.us)$/
const GROUP = /^[0-9][0-9-]{4,60}@g\.us$/

/** The JID of a phone in E.164; a group id is a JID already. */
export function jidOf(to: string): string {
  return to.startsWith('+') ? `${to.slice(1)}@s.whatsapp.net` : to
}

/** E.164 of a person's JID; null for other JIDs. */
export function phoneOf(jid: string | null | undefined): string | null {
  const [, digits] = PERSON.exec(jid ?? '') ?? []
  return digits === undefined ? null : `+${digits}`
}

export function isGroup(jid: string): boolean {
  return GROUP.test(jid)
}

/** The person's JID, from the JID of one of their devices. */
export function withoutDevice(jid: string): string {
  return jid.replace(/:\d+@/, '@')
}
