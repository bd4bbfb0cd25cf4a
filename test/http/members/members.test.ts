import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ApiKey } from '../../../src/contract/api-key.ts'
import type { AuditEntry } from '../../../src/contract/audit.ts'
import type {
  AdminInvitation,
  Invitation,
  InvitationMade,
  Member,
  Person,
} from '../../../src/contract/member.ts'
import type { Message } from '../../../src/contract/message.ts'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { join, openBrowser, PASSWORD, setUp, tokenOf, type Visitor } from '../../support/console.ts'
import { type MailDev, startMailDev } from '../../support/maildev.ts'

let app: TestApp
let account: TestAccount
let owner: Visitor
let count = 0

beforeAll(async () => {
  app = await startTestApp()
  await setUp(app)
})
afterAll(() => app.stop())
beforeEach(async () => {
  account = await app.createAccount()
  owner = await join(app, account.id, 'owner', newEmail())
})

const newEmail = () => `person${++count}@example.com`
const as = (visitor: Visitor) => visitor.for(account.id)
const data = <T>(answer: Answer) => answer.body['data'] as T

async function invite(body: object, by: Visitor = owner): Promise<InvitationMade> {
  const made = await as(by)('POST', '/members/invitations', body)
  expect(made.status, made.text).toBe(201)
  return data(made)
}

const accept = (browser: Visitor, link: string, body: object = {}) =>
  browser.call('POST', '/api/console/invitations/accept', {
    token: tokenOf(link),
    name: 'Somebody',
    password: PASSWORD,
    ...body,
  })

async function memberOf(email: string): Promise<Member> {
  const members = data<Member[]>(await as(owner)('GET', '/members'))
  return members.find(member => member.email === email)!
}

describe('an invitation', () => {
  test('is created, previewed and accepted once, and grants its role', async () => {
    const email = newEmail()
    const { invitation, link, mail } = await invite({ email: ` ${email.toUpperCase()} `, role: 'member' })
    expect(invitation).toMatchObject({
      id: expect.stringMatching(/^inv_/),
      role: 'member',
      permissions: ['messages:create', 'messages:read'],
      status: 'pending',
      acceptedAt: null,
    })
    // The only e-mail connection here is the sandbox, whose inbox others can read, so nothing is mailed.
    expect(mail).toBe('no_connection')
    expect(await account.inbox()).toEqual([])
    expect(link).toMatch(new RegExp(`^${app.url}/invitation#[\\w-]{43}$`))
    expect(app.log.join('')).not.toContain(tokenOf(link))

    const browser = openBrowser(app)
    const preview = await browser.call('POST', '/api/console/invitations/read', { token: tokenOf(link) })
    expect(data(preview)).toMatchObject({
      kind: 'invitation',
      accountName: 'Acme',
      role: 'member',
      hasLogin: false,
    })
    for (const [body, path] of [
      [{ password: 'short' }, 'password'],
      [{ password: '😀'.repeat(9) }, 'password'],
      [{ name: undefined }, 'name'],
      [{ password: email.toUpperCase() }, 'password'],
    ] as const) {
      const refused = await accept(openBrowser(app), link, body)
      expect([refused.status, faultPaths(refused)]).toEqual([400, [path]])
    }
    const both = await Promise.all([accept(browser, link), accept(openBrowser(app), link)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await accept(openBrowser(app), link)).status).toBe(404)
    const gone = await browser.call('POST', '/api/console/invitations/read', { token: tokenOf(link) })
    expect(gone.status).toBe(404)
    const listed = data<Invitation[]>(await as(owner)('GET', '/members/invitations'))
    expect(listed.find(({ id }) => id === invitation.id)).toMatchObject({ status: 'accepted' })
    expect(await memberOf(email.toUpperCase())).toMatchObject({ role: 'member', name: 'Somebody' })
  })

  test('is invalid after seven days, once revoked, and once a later one replaces it', async () => {
    const email = newEmail()
    const first = await invite({ email, role: 'member' })
    const second = await invite({ email, role: 'owner' })
    expect((await accept(openBrowser(app), first.link)).status).toBe(404)
    expect((await as(owner)('DELETE', `/members/invitations/${second.invitation.id}`)).status).toBe(200)
    expect((await accept(openBrowser(app), second.link)).status).toBe(404)
    expect((await as(owner)('DELETE', `/members/invitations/${second.invitation.id}`)).status).toBe(404)
    const third = await invite({ email, role: 'member' })
    app.jump(7 * 86_400_000)
    expect((await accept(openBrowser(app), third.link)).status).toBe(404)
  })

  test('is the only pending one for its e-mail address, also when several are created at once', async () => {
    const email = newEmail()
    const made = await Promise.all(Array.from({ length: 6 }, () => invite({ email, role: 'member' })))
    const listed = data<Invitation[]>(await as(owner)('GET', '/members/invitations'))
    const open = listed.filter(each => each.email === email)
    expect(open).toHaveLength(1)
    const works = made.filter(({ invitation }) => invitation.id === open[0]!.id)
    expect((await accept(openBrowser(app), works[0]!.link)).status).toBe(200)
  })

  test('of a person with a login requires its password, and adds a membership to it', async () => {
    const email = newEmail()
    await join(app, (await app.createAccount()).id, 'owner', email)
    const { link } = await invite({ email, role: 'member' })
    const browser = openBrowser(app)
    expect((await accept(browser, link, { password: 'not theirs at all' })).status).toBe(401)
    expect((await accept(browser, link)).status).toBe(200)
    const { memberships } = await browser.session()
    expect(memberships.map(({ role }) => role).sort()).toEqual(['member', 'owner'])
    const again = await as(owner)('POST', '/members/invitations', { email, role: 'member' })
    expect(again.status).toBe(409)
  })

  test.each([
    [{ role: 'member' }, 'email'],
    [{ email: 'nobody', role: 'member' }, 'email'],
    [{ email: 'a@example.com', role: 'operator' }, 'role'],
    [{ email: 'a@example.com', role: 'member', permissions: ['everything'] }, 'permissions[0]'],
  ])('with the body %j is rejected', async (body, path) => {
    const refused = await as(owner)('POST', '/members/invitations', body)
    expect([refused.status, faultPaths(refused)]).toEqual([400, [path]])
  })

  test('can be created with the API key of an owner', async () => {
    const made = await app.call('/api/v2/members/invitations', {
      method: 'POST',
      key: account.liveKey,
      body: { email: newEmail(), role: 'member', mail: false },
    })
    expect(data<InvitationMade>(made)).toMatchObject({
      mail: 'not_asked',
      invitation: { invitedBy: 'Owner (live)' },
    })
  })
})

describe('the invitations, reset links and API keys that a member created', () => {
  /** Adds another owner, who then invites somebody. */
  async function inviter(): Promise<{ id: string; visitor: Visitor; link: string }> {
    const visitor = await join(app, account.id, 'owner', newEmail())
    const { link } = await invite({ email: newEmail(), role: 'owner' }, visitor)
    return { id: (await visitor.session()).user.id, visitor, link }
  }
  const pending = async () =>
    data<Invitation[]>(await as(owner)('GET', '/members/invitations')).filter(
      ({ status }) => status === 'pending',
    )

  test('pending invitations end when their creator stops being an owner, however that happens', async () => {
    const ways: ((id: string) => Promise<Answer>)[] = [
      id => as(owner)('DELETE', `/members/${id}`),
      id => as(owner)('PATCH', `/members/${id}`, { role: 'member' }),
      id => app.admin('POST', '/members', { userId: id, accountId: account.id, role: 'member' }),
      id => app.admin('DELETE', `/members/${id}?accountId=${account.id}`),
      id => app.admin('DELETE', `/members/${id}`),
    ]
    const mine = await invite({ email: newEmail(), role: 'member' })
    let endedLink = ''
    for (const take of ways) {
      const { id, link } = await inviter()
      expect(await pending()).toHaveLength(2)
      expect((await take(id)).status, take.toString()).toBeLessThan(300)
      expect(
        (await pending()).map(each => each.id),
        take.toString(),
      ).toEqual([mine.invitation.id])
      endedLink = link
    }
    // Only one is followed: following many invalid links counts as guessing.
    expect((await accept(openBrowser(app), endedLink)).status).toBe(404)
    expect((await accept(openBrowser(app), mine.link)).status).toBe(200)
  })

  test('pending invitations stay valid while their creator remains an owner', async () => {
    const { id, link } = await inviter()
    for (const operator of [true, false]) await app.admin('PATCH', `/members/${id}`, { operator })
    await as(owner)('PATCH', `/members/${id}`, { role: 'owner' })
    expect((await accept(openBrowser(app), link)).status).toBe(200)
  })

  test('invitations and reset links that an operator created end with the operator role', async () => {
    const operator = await join(app, account.id, 'owner', newEmail())
    const { id } = (await operator.session()).user
    await app.admin('PATCH', `/members/${id}`, { operator: true })
    const elsewhere = await app.createAccount()
    const made = await Promise.all([
      operator.call('POST', '/api/admin/members/invitations', { email: newEmail(), role: 'operator' }),
      operator.call('POST', '/api/admin/members/invitations', {
        email: newEmail(),
        role: 'owner',
        accountId: elsewhere.id,
      }),
      operator.call('POST', `/api/admin/members/${(await owner.session()).user.id}/reset`),
    ])
    const own = await invite({ email: newEmail(), role: 'member' }, operator)
    await app.admin('PATCH', `/members/${id}`, { operator: false })
    for (const each of made) {
      const { link } = data<{ link: string }>(each)
      expect((await accept(openBrowser(app), link)).status).toBe(404)
    }
    expect((await accept(openBrowser(app), own.link)).status).toBe(200)
  })

  test('invitations created with a key end when the key is revoked, however that happens', async () => {
    for (const revoke of [
      (id: string) => as(owner)('DELETE', `/api-keys/${id}`),
      (id: string) => as(owner)('POST', `/api-keys/${id}/rotate`, { overlapSeconds: 0 }),
      (id: string) => app.admin('DELETE', `/accounts/${account.id}/keys/${id}`),
    ]) {
      const { key, apiKey } = await makeKey(owner, 'owner')
      const made = await app.call('/api/v2/members/invitations', {
        method: 'POST',
        key: apiKey,
        body: { email: newEmail(), role: 'owner', mail: false },
      })
      expect(data<InvitationMade>(made).invitation.status).toBe('pending')
      expect((await revoke(key.id)).status).toBeLessThan(300)
      expect(await pending(), revoke.toString()).toEqual([])
    }
  })

  test('a key that expires neither invites people nor gives members more rights, which they would keep', async () => {
    const email = newEmail()
    await join(app, account.id, 'member', email)
    const { id } = await memberOf(email)
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Short',
      mode: 'live',
      role: 'owner',
      permissions: ['messages:create', 'messages:read', 'api_keys:read', 'api_keys:write'],
      expiresAt: new Date(app.now() + 60_000).toISOString(),
    })
    const { apiKey: key } = data<{ apiKey: string }>(made)
    const refused = await app.call('/api/v2/members/invitations', {
      method: 'POST',
      key,
      body: { email: newEmail(), role: 'member', mail: false },
    })
    expect([refused.status, refused.body['code']]).toEqual([403, 'FORBIDDEN'])
    expect(await pending()).toEqual([])

    const change = async (body: object) =>
      (await app.call(`/api/v2/members/${id}`, { method: 'PATCH', key, body })).status
    expect(await change({ role: 'owner' })).toBe(403)
    expect(await change({ permissions: ['messages:read', 'api_keys:write'] })).toBe(403)
    expect(await memberOf(email)).toMatchObject({
      role: 'member',
      permissions: ['messages:create', 'messages:read'],
    })
    expect(await change({ permissions: ['messages:read'] })).toBe(200)
    expect(await change({ permissions: ['messages:create'] })).toBe(403)
    await as(owner)('PATCH', `/members/${id}`, { role: 'owner' })
    expect(await change({ role: 'member' })).toBe(200)
  })

  async function makeKey(by: Visitor, role = 'member'): Promise<{ key: ApiKey; apiKey: string }> {
    const permissions = ['messages:read', ...(role === 'owner' ? ['messages:create', 'api_keys:write'] : [])]
    const all = role === 'owner' ? [...permissions, 'api_keys:read'] : permissions
    const made = await as(by)('POST', '/api-keys', {
      name: `A ${role}’s`,
      mode: 'live',
      role,
      permissions: all,
    })
    expect(made.status, made.text).toBe(201)
    return data(made)
  }

  test('API keys stay valid when their creator is removed, and the response and audit log list them', async () => {
    const { id, visitor } = await inviter()
    const first = await makeKey(visitor, 'owner')
    expect(first.key.createdBy).toEqual({ type: 'user', id, name: (await visitor.session()).user.name })
    const second = await app.call('/api/v2/api-keys', {
      method: 'POST',
      key: first.apiKey,
      body: { name: 'By a key', mode: 'test', permissions: [] },
    })
    const { key } = data<{ key: ApiKey }>(second)
    expect(key.createdBy).toEqual({ type: 'api_key', id: first.key.id, name: 'A owner’s' })
    const revoked = await makeKey(visitor)
    await as(owner)('DELETE', `/api-keys/${revoked.key.id}`)
    await makeKey(owner)

    const removed = await as(owner)('DELETE', `/members/${id}`)
    const remainingKeys = [
      { id: key.id, accountId: account.id, name: 'By a key', mode: 'test', role: 'member' },
      { id: first.key.id, accountId: account.id, name: 'A owner’s', mode: 'live', role: 'owner' },
    ]
    expect(data(removed)).toEqual({ id, deleted: true, apiKeys: remainingKeys })
    const noted = await as(owner)('GET', '/audit?action=member.delete')
    expect(data<AuditEntry[]>(noted)[0]).toMatchObject({ target: id, changes: { apiKeys: remainingKeys } })
    expect((await app.call('/api/v2/account', { key: first.apiKey })).status).toBe(200)
    // Deleting the whole login afterwards lists the keys again.
    expect(data(await app.admin('DELETE', `/members/${id}`))).toEqual({
      id,
      deleted: true,
      apiKeys: remainingKeys,
    })
  })
})

describe('a password reset link', () => {
  const NEW = 'a wholly new password'
  async function resetOf(person: Visitor): Promise<string> {
    const { id } = (await person.session()).user
    return data<{ link: string }>(await app.admin('POST', `/members/${id}/reset`)).link
  }
  const follow = (link: string) => accept(openBrowser(app), link, { password: NEW })

  test('is invalid once the password changes or a later link is created', async () => {
    const email = newEmail()
    const person = await join(app, account.id, 'member', email)
    const first = await resetOf(person)
    const change = { currentPassword: PASSWORD, newPassword: 'yet another password' }
    expect((await person.call('POST', '/api/console/password', change)).status).toBe(200)
    expect((await follow(first)).status).toBe(404)
    const [second, third] = [await resetOf(person), await resetOf(person)]
    expect([(await follow(second)).status, (await follow(third)).status]).toEqual([404, 200])
    expect((await person.logIn(email, NEW)).status).toBe(200)
  })

  test('sets no password for a later holder of the e-mail address or for a deleted person', async () => {
    const email = newEmail()
    const person = await join(app, account.id, 'member', email)
    const link = await resetOf(person)
    const changeEmail = (from: string, to: string) =>
      app.db.query({
        name: 'readdress',
        text: 'update users set email = $2, email_key = $2 where email_key = $1',
        values: [from, to],
      })
    await changeEmail(email, newEmail())
    expect((await follow(link)).status).toBe(404)
    const laterHolder = await join(app, account.id, 'member', email)
    expect((await follow(link)).status).toBe(404)
    expect((await laterHolder.logIn(email)).status).toBe(200)

    const last = await resetOf(laterHolder)
    await app.admin('DELETE', `/members/${(await laterHolder.session()).user.id}`)
    expect((await follow(last)).status).toBe(404)
  })
})

describe('the API key of an owner', () => {
  test('cannot invite, change or remove people with more rights than it has', async () => {
    const email = newEmail()
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'Narrow',
      mode: 'live',
      role: 'owner',
      permissions: ['messages:read'],
    })
    const narrow = data<{ apiKey: string }>(made).apiKey
    const by = (key: string, body: object) =>
      app.call('/api/v2/members/invitations', { method: 'POST', key, body: { email, mail: false, ...body } })
    for (const body of [
      { role: 'owner' },
      { role: 'member' },
      { role: 'member', permissions: ['api_keys:write'] },
    ]) {
      expect((await by(narrow, body)).status, JSON.stringify(body)).toBe(403)
    }
    expect((await by(account.testKey, { role: 'member', permissions: [] })).status).toBe(403)
    expect((await by(narrow, { role: 'member', permissions: ['messages:read'] })).status).toBe(201)
    const { id } = (await owner.session()).user
    const patch = (key: string) =>
      app.call(`/api/v2/members/${id}`, { method: 'PATCH', key, body: { role: 'owner' } })
    expect([(await patch(narrow)).status, (await patch(account.testKey)).status]).toEqual([403, 403])
    // Nor can it change or remove a member that it could not have invited.
    await join(app, account.id, 'owner', newEmail())
    for (const key of [account.testKey, narrow]) {
      const gone = await app.call(`/api/v2/members/${id}`, { method: 'DELETE', key })
      const lower = { role: 'member', permissions: [] }
      const lowered = await app.call(`/api/v2/members/${id}`, { method: 'PATCH', key, body: lower })
      expect([gone.status, lowered.status]).toEqual([403, 403])
    }
    const { invitation } = await invite({ email: newEmail(), role: 'member' })
    const path = `/api/v2/members/invitations/${invitation.id}`
    expect((await app.call(path, { method: 'DELETE', key: account.testKey })).status).toBe(403)
  })
})

describe('with a mail server', () => {
  let mails: MailDev
  let connection: string
  beforeAll(async () => {
    mails = await startMailDev()
    const made = await app.admin('POST', '/connections', {
      provider: 'smtp',
      name: 'mail',
      channels: ['email_user'],
      config: { host: '127.0.0.1', port: mails.smtpPort, from: 'Posthorn <posthorn@example.com>' },
    })
    expect(made.status, made.text).toBe(201)
    connection = data<{ connection: { id: string } }>(made).connection.id
  })
  afterAll(async () => {
    await app.admin('DELETE', `/connections/${connection}`)
    await mails.stop()
  })

  test('an invitation is mailed to its recipient, and its link is neither stored nor logged in plain text', async () => {
    const email = newEmail()
    const { link, mail } = await invite({ email, role: 'owner' })
    expect(mail).toBe('sent')
    const read = await mails.mail(1)
    expect(read.to.map(({ address }) => address)).toEqual([email])
    expect(read.subject).toBe('Invitation to Acme')
    expect(read.text).toContain(link)
    // It is a message of the account, with its text hidden.
    const [message] = (await app.call('/api/v2/messages', { key: account.liveKey })).body['data'] as Message[]
    expect(message).toMatchObject({ to: email, messageType: 'otp', text: '••••••', status: 'sent' })
    const { rows } = await app.db.query<{ text: string }>({
      name: 'all_rows',
      text: `select concat((select string_agg(m::text, '') from messages m), (select string_agg(o::text, '') from outbox o),
                           (select string_agg(i::text, '') from invitations i), (select string_agg(a::text, '') from audit_log a)) as text`,
    })
    expect(rows[0]!.text).not.toContain(tokenOf(link))
    expect(app.log.join('')).not.toContain(tokenOf(link))
    expect((await accept(openBrowser(app), link)).status).toBe(200)
  })

  test('an invitation is mailed whatever characters the name of the account has', async () => {
    for (const name of ['😀'.repeat(200), 'Two\nlines']) {
      // Not over the API, which refuses line breaks today: accounts of older versions have them.
      await app.db.query({
        name: 'rename_account',
        text: 'update accounts set name = $2 where id = $1',
        values: [toUuid(account.id as AccountId), name],
      })
      await app.admin('PATCH', `/accounts/${account.id}`, { quietHours: null })
      expect((await invite({ email: newEmail(), role: 'member' })).mail, name).toBe('sent')
    }
    const subjects = [(await mails.mail(2)).subject, (await mails.mail(3)).subject]
    expect(subjects).toEqual([`Invitation to ${'😀'.repeat(200)}`, 'Invitation to Two lines'])
  })

  test('an invitation that cannot be mailed is created nevertheless', async () => {
    const poor = await app.createAccount({ balance: 0 })
    const made = await app.call('/api/v2/members/invitations', {
      method: 'POST',
      key: poor.liveKey,
      body: { email: newEmail(), role: 'member' },
    })
    expect([made.status, data<InvitationMade>(made).mail]).toEqual([201, 'failed'])
  })
})

describe('a member', () => {
  test('can do what their role and permissions allow, and no more', async () => {
    const member = await join(app, account.id, 'member', newEmail(), ['messages:read'])
    expect((await as(member)('GET', '/messages')).status).toBe(200)
    expect((await as(member)('GET', '/account')).status).toBe(200)
    const send = await as(member)('POST', '/messages/send', { to: '+12025550123', text: 'Hi' })
    expect([send.status, send.body['error']]).toEqual([403, expect.stringContaining('messages:create')])
    for (const [method, path, body] of OWNER_OPERATIONS) {
      const refused = await as(member)(method, path, body)
      expect([refused.status, refused.body['code']], `${method} ${path}`).toEqual([403, 'FORBIDDEN'])
    }
    for (const [method, path] of [
      ['GET', '/api/admin/accounts'],
      ['GET', '/api/admin/members'],
      ['POST', '/api/admin/accounts'],
    ] as const) {
      expect((await member.call(method, path, method === 'GET' ? undefined : {})).status, path).toBe(403)
    }
  })

  test('can be promoted and demoted with immediate effect, but the last owner cannot be demoted or removed', async () => {
    const email = newEmail()
    const member = await join(app, account.id, 'member', email)
    const { id } = await memberOf(email)
    const me = (await owner.session()).user.id
    expect((await as(owner)('PATCH', `/members/${me}`, { role: 'member' })).status).toBe(409)
    expect((await as(owner)('DELETE', `/members/${me}`)).status).toBe(409)
    expect((await as(member)('GET', '/members')).status).toBe(403)
    const raised = await as(owner)('PATCH', `/members/${id}`, { role: 'owner' })
    expect(data(raised)).toMatchObject({
      role: 'owner',
      permissions: expect.arrayContaining(['api_keys:write']),
    })
    expect((await as(member)('GET', '/members')).status).toBe(200)
    // If two owners demote each other at once, only one succeeds.
    const both = await Promise.all([
      as(member)('PATCH', `/members/${me}`, { role: 'member' }),
      as(owner)('PATCH', `/members/${id}`, { role: 'member', permissions: [] }),
    ])
    expect(both.map(({ status }) => status).filter(status => status === 200)).toHaveLength(1)
  })

  test('who is removed loses access at once, and keeps the login', async () => {
    const email = newEmail()
    const member = await join(app, account.id, 'member', email)
    const { id } = await memberOf(email)
    expect((await as(owner)('DELETE', `/members/${id}`)).status).toBe(200)
    expect((await as(member)('GET', '/account')).status).toBe(403)
    expect((await member.session()).memberships).toEqual([])
    expect((await as(owner)('DELETE', `/members/${id}`)).status).toBe(404)
    expect((await as(owner)('PATCH', '/members/usr_x', {})).status).toBe(404)
  })

  test('who was removed cannot return through an earlier invitation', async () => {
    const email = newEmail()
    const person = await join(app, (await app.createAccount()).id, 'owner', email)
    const { link } = await invite({ email, role: 'owner' })
    const { id } = (await person.session()).user
    const joined = await app.admin('POST', '/members', { userId: id, accountId: account.id, role: 'member' })
    expect(joined.status).toBe(201)
    expect((await as(owner)('DELETE', `/members/${id}`)).status).toBe(200)
    expect((await accept(person, link)).status).toBe(404)
    const made = await app.admin('POST', '/members/invitations', { email, role: 'operator' })
    for (const operator of [true, false]) await app.admin('PATCH', `/members/${id}`, { operator })
    expect((await accept(person, data<{ link: string }>(made).link)).status).toBe(404)
  })

  test('of another account has no access here, and cannot be changed or removed here', async () => {
    const { id: foreign } = await app.createAccount()
    const email = newEmail()
    const stranger = await join(app, foreign, 'owner', email)
    const { id } = (await stranger.session()).user
    expect((await as(stranger)('GET', '/members')).status).toBe(403)
    expect((await as(owner)('PATCH', `/members/${id}`, { role: 'owner' })).status).toBe(404)
    expect((await as(owner)('DELETE', `/members/${id}`)).status).toBe(404)
    const { invitation } = await invite({ email: newEmail(), role: 'member' })
    expect((await stranger.for(foreign)('DELETE', `/members/invitations/${invitation.id}`)).status).toBe(404)
  })
})

/** Operations that a member with only `messages:read` may not call. */
const OWNER_OPERATIONS: readonly (readonly [string, string, unknown?])[] = [
  ['GET', '/members'],
  ['PATCH', '/members/usr_x', {}],
  ['DELETE', '/members/usr_x'],
  ['GET', '/members/invitations'],
  ['POST', '/members/invitations', {}],
  ['DELETE', '/members/invitations/inv_x'],
  ['GET', '/audit'],
  ['GET', '/api-keys'],
  ['POST', '/api-keys', {}],
  ['DELETE', '/api-keys/key_x'],
  ['POST', '/api-keys/key_x/rotate', {}],
  ['PATCH', '/account', {}],
  ['POST', '/sms-senders', {}],
]

describe('the operator', () => {
  test('lists people and changes their access, but cannot remove the last owner or operator', async () => {
    const email = newEmail()
    const person = await join(app, account.id, 'member', email)
    const { id } = (await person.session()).user
    const found = data<Person[]>(
      await app.admin('GET', `/members?q=${email.slice(0, 8).toUpperCase()}&limit=500`),
    )
    expect(found.find(each => each.id === id)).toMatchObject({
      email,
      operator: false,
      memberships: [{ accountId: account.id, accountName: 'Acme', role: 'member' }],
    })
    expect(data<Person>(await app.admin('GET', `/members/${id}`))).toMatchObject({ id, email })
    expect((await person.call('GET', `/api/admin/members/${id}`)).status).toBe(403)
    const mine = data<Person[]>(await app.admin('GET', `/members?accountId=${account.id}`))
    expect(mine.map(each => each.email)).toContain(email)
    expect(mine).toHaveLength(2)

    const { id: second } = await app.createAccount()
    const joined = await app.admin('POST', '/members', { userId: id, accountId: second, role: 'owner' })
    expect(joined.status).toBe(201)
    expect(data<{ member: Person }>(joined).member).toMatchObject({ id, email })
    expect((await person.for(second)('GET', '/members')).status).toBe(200)
    expect((await person.call('GET', '/api/admin/accounts')).status).toBe(403)
    await app.admin('PATCH', `/members/${id}`, { operator: true })
    expect((await person.call('GET', '/api/admin/accounts')).status).toBe(200)
    await app.admin('PATCH', `/members/${id}`, { operator: false })
    expect((await person.call('GET', '/api/admin/accounts')).status).toBe(403)
    expect((await app.admin('DELETE', `/members/${id}?accountId=${account.id}`)).status).toBe(200)
    expect((await as(person)('GET', '/account')).status).toBe(403)
    expect((await app.admin('DELETE', `/members/${id}`)).status).toBe(200)
    expect((await person.call('GET', '/api/console/session')).status).toBe(401)
    expect((await person.logIn(email)).status).toBe(401)
    expect((await app.admin('DELETE', `/members/${id}`)).status).toBe(404)
    for (const gone of [id, 'nobody']) expect((await app.admin('GET', `/members/${gone}`)).status).toBe(404)

    // The last owner cannot be demoted through this endpoint either.
    const me = (await owner.session()).user.id
    const lowered = await app.admin('POST', '/members', { userId: me, accountId: account.id, role: 'member' })
    expect([lowered.status, (await as(owner)('GET', '/members')).status]).toEqual([409, 200])

    const people = data<Person[]>(await app.admin('GET', '/members?limit=500'))
    const last = people.find(({ operator }) => operator)!
    expect(people.filter(({ operator }) => operator)).toHaveLength(1)
    expect((await app.admin('PATCH', `/members/${last.id}`, { operator: false })).status).toBe(409)
    expect((await app.admin('DELETE', `/members/${last.id}`)).status).toBe(409)
  })

  test('can invite an owner of an account, who is no operator', async () => {
    const email = newEmail()
    const made = await app.admin('POST', '/members/invitations', {
      email,
      role: 'owner',
      accountId: account.id,
    })
    const { invitation, link } = data<{ invitation: AdminInvitation; link: string }>(made)
    expect(invitation).toMatchObject({ email, role: 'owner', accountId: account.id })
    const browser = openBrowser(app)
    await accept(browser, link)
    const { user } = await browser.session()
    expect(user.operator).toBe(false)
    const members = data<Person[]>(await as(browser)('GET', '/members'))
    expect(members.find(({ id }) => id === user.id)).toMatchObject({ email, role: 'owner' })
    expect((await browser.call('GET', '/api/admin/nodes')).status).toBe(403)
    await app.admin('DELETE', `/members/${user.id}`)
  })

  test('cannot invite a member: accepted, the invitation would leave the role as it is', async () => {
    const email = newEmail()
    const browser = await join(app, account.id, 'member', email)
    const again = { email: email.toUpperCase(), role: 'owner', accountId: account.id }
    const refused = await app.admin('POST', '/members/invitations', again)
    expect([refused.status, refused.body['code']]).toEqual([409, 'CONFLICT'])
    const { id } = (await browser.session()).user
    const membership = { userId: id, accountId: account.id, role: 'owner' }
    expect((await app.admin('POST', '/members', membership)).status).toBe(201)
    await app.admin('DELETE', `/members/${id}`)
  })

  test('can invite another operator; invalid invitations are rejected', async () => {
    const email = newEmail()
    const made = await app.admin('POST', '/members/invitations', { email, role: 'operator' })
    expect(data<{ invitation: AdminInvitation }>(made).invitation).toMatchObject({
      role: 'operator',
      accountId: null,
    })
    const browser = openBrowser(app)
    await accept(browser, data<{ link: string }>(made).link)
    expect((await browser.session()).user.operator).toBe(true)
    expect((await browser.call('GET', '/api/admin/nodes')).status).toBe(200)
    expect((await app.admin('POST', '/members/invitations', { email, role: 'operator' })).status).toBe(409)
    for (const [body, status] of [
      [{ email: newEmail(), role: 'owner' }, 400],
      [{ email: newEmail(), role: 'operator', accountId: account.id }, 400],
      [{ email: newEmail(), role: 'owner', accountId: 'acc_x' }, 404],
    ] as const) {
      expect((await app.admin('POST', '/members/invitations', body)).status).toBe(status)
    }
    const listed = data<AdminInvitation[]>(await app.admin('GET', '/members/invitations?limit=500'))
    expect(listed.find(each => each.email === email)).toMatchObject({
      status: 'accepted',
      invitedBy: 'Operator token',
    })
    await app.admin('DELETE', `/members/${(await browser.session()).user.id}`)
  })
})
