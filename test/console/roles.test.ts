import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Need } from '../../console/src/session/session.ts'
import {
  type Console,
  findBarriers,
  PERSON,
  setUp,
  startConsole,
  takePicture,
  type Window,
} from './support.ts'

/**
 * The console’s own table of pages, imported by its URL since the components are not part of the tests’
 * program.
 */
const TABLE = new URL('../../console/src/pages.ts', import.meta.url).href
const { PAGES } = (await import(TABLE)) as {
  PAGES: readonly { path: string; need: Need; permissions?: readonly string[] }[]
}

const MEMBER = { name: 'Grace', password: 'another long sentence' }

/**
 * Pages that require only read permission, a text that is always on them, and an action that requires more.
 */
const WRITING = [
  ['/messages', 'No messages yet', 'Send the first one'],
  ['/templates', 'No templates yet', 'New template'],
  ['/bulk', 'No bulk jobs yet', 'New job'],
  ['/suppressions', 'No suppressed recipients', 'Add a recipient'],
  ['/verification', 'No verifications in this period', 'Try it'],
] as const

let server: Console
let owner: Window
let member: Window
/** The part after the # in the link by which the member has joined. */
let usedHash: string

beforeAll(async () => {
  server = await startConsole()
  owner = await server.open()
  await setUp(owner)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('a member', { timeout: 60_000 }, () => {
  it('joins by the invitation link of an owner', async () => {
    const invited = await asSignedIn(owner, 'POST', '/api/v2/members/invitations', {
      email: 'grace@example.com',
      role: 'member',
    })
    expect(invited.code).toBeUndefined()
    const { pathname, hash } = new URL(invited.data!.link)
    usedHash = hash
    member = await server.open()
    await member.go(pathname + hash)
    const { page } = member
    await page.getByRole('heading', { name: 'Join Demo as member' }).waitFor()
    await page.getByText('grace@example.com').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'invitation')
    await page.getByLabel('Your name').fill(MEMBER.name)
    await page.getByLabel('New password').fill(MEMBER.password)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('sees only the pages of their role, and the API rejects the others', async () => {
    const { page, go } = member
    const [ownersLinks, links] = [await linksOf(owner), await linksOf(member)]
    // The login is owner and operator, so every page is in the navigation.
    expect(ownersLinks).toEqual(expect.arrayContaining(PAGES.map(({ path }) => path)))
    const closed = PAGES.filter(({ need, permissions }) => !ofMembers(need, permissions))
    expect(closed.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/keys', '/members', '/operator/policies']),
    )
    expect(links.toSorted()).toEqual(
      PAGES.filter(each => !closed.includes(each))
        .map(({ path }) => path)
        .toSorted(),
    )
    for (const { path } of closed) {
      await page.evaluate(`history.pushState(null, '', '${path}')`)
      await page.waitForFunction(`document.querySelector('#main').innerText.includes('Page not found')`)
      await page.evaluate(`history.pushState(null, '', '/suppressions')`)
      await page.getByText('No suppressed recipients').waitFor()
    }
    await go('/keys')
    await page.getByText('Page not found').waitFor()
    const key = { name: 'Mine', mode: 'test', permissions: ['messages:create'] }
    const refused = [
      await asSignedIn(member, 'POST', '/api/v2/api-keys', key),
      await asSignedIn(member, 'GET', '/api/v2/members'),
      await asSignedIn(member, 'GET', '/api/admin/accounts'),
      await asSignedIn(member, 'GET', '/api/admin/policies'),
    ].map(({ code }) => code)
    expect(refused).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'])
  })

  it('with read permission only is offered no action that writes', async () => {
    const { data } = await asSignedIn(owner, 'GET', '/api/v2/members')
    const grace = (data as unknown as { id: string; name: string }[]).find(({ name }) => name === MEMBER.name)
    const reading = { permissions: ['messages:read'] }
    await asSignedIn(owner, 'PATCH', `/api/v2/members/${grace!.id}`, reading)
    await Promise.all([member.go('/'), owner.go('/')])
    // The column of providers needs the permission to send; the figures do not.
    for (const [{ page }, columns] of [
      [owner, 5],
      [member, 4],
    ] as const) {
      await page.getByRole('row').filter({ hasText: 'Local SMS' }).waitFor()
      expect(await page.getByRole('columnheader').count()).toBe(columns)
    }
    for (const [path, sign, action] of WRITING) {
      await member.turn(path)
      await member.page.getByText(sign).first().waitFor()
      expect(await member.page.getByText(action, { exact: true }).count(), `${action} at ${path}`).toBe(0)
      await owner.turn(path)
      await owner.page.getByText(action, { exact: true }).first().waitFor()
    }
    const refused = [
      await asSignedIn(member, 'POST', '/api/v2/templates', {}),
      await asSignedIn(member, 'POST', '/api/v2/suppressions', {}),
      await asSignedIn(member, 'POST', '/api/v2/messages/send', {}),
    ].map(({ code }) => code)
    expect(refused).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'])
  })

  it('who may create keys, but not send, is not guided to a first message', async () => {
    const { data } = await asSignedIn(owner, 'GET', '/api/v2/members')
    const grace = (data as unknown as { id: string; name: string }[]).find(({ name }) => name === MEMBER.name)
    const change = (permissions: string[]) =>
      asSignedIn(owner, 'PATCH', `/api/v2/members/${grace!.id}`, { permissions })
    await change(['api_keys:write', 'messages:read'])
    await member.go('/welcome')
    await member.page.getByText('Page not found').waitFor()
    expect(await linksOf(member)).not.toContain('/welcome')
    await change(['api_keys:write', 'messages:read', 'messages:create'])
    await member.go('/welcome')
    await member.page.getByRole('heading', { name: `Welcome, ${MEMBER.name}` }).waitFor()
    await change(['messages:read'])
  })

  it('who loses a permission loses the open page and its navigation link', async () => {
    const { data } = await asSignedIn(owner, 'GET', '/api/v2/members')
    const grace = (data as unknown as { id: string; name: string }[]).find(({ name }) => name === MEMBER.name)
    await member.turn('/messages')
    await member.page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
    await asSignedIn(owner, 'PATCH', `/api/v2/members/${grace!.id}`, { permissions: ['messages:create'] })
    await member.page.getByText('Page not found').waitFor()
    expect(await linksOf(member)).not.toContain('/messages')
  })

  it('without read permission sees new messages in the sandbox inbox, without a rejected request', async () => {
    const rejected: string[] = []
    member.page.on('response', response => {
      if (response.status() >= 400) rejected.push(response.url())
    })
    await member.turn('/sandbox')
    await member.page.getByText('No messages yet').waitFor()
    const { demoKey: key, call } = server.app
    await call('/api/v2/messages/send', { method: 'POST', key, body: { to: '+12025550123', text: 'Seen' } })
    await member.page.getByRole('cell', { name: 'Seen' }).waitFor()
    expect(rejected).toEqual([])
  })

  it('without read permission can send, and is led to no page that they may not open', async () => {
    const { page, turn } = member
    const rejected: string[] = []
    page.on('response', response => {
      if (response.status() >= 400) rejected.push(response.url())
    })
    await turn('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550124')
    await page.getByRole('textbox', { name: 'Text' }).fill('Sent without reading')
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.getByText('The message is in the sandbox.').waitFor()
    await turn('/sandbox')
    await page.getByRole('cell', { name: 'Sent without reading' }).click()
    await page.getByRole('dialog').getByText('Attempts').waitFor()
    expect(await page.getByRole('link', { name: 'Show the timeline' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    expect(rejected).toEqual([])
  })

  it('sees an explanation when an invitation link is invalid or was used', async () => {
    const late = await server.open()
    // While the server does not answer, it is unknown whether the link works.
    await late.context.route('**/invitations/read', route => route.abort('connectionrefused'))
    await late.go('/invitation#inv_not-a-link')
    await late.page.getByText('The server does not answer').waitFor()
    expect(await late.page.getByText('This link does not work').count()).toBe(0)
    await late.context.unroute('**/invitations/read')
    await late.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    // The next invitation, in the same tab: only the part after the # changes.
    const fresh = await asSignedIn(owner, 'POST', '/api/v2/members/invitations', {
      email: 'late@example.com',
      role: 'member',
    })
    await late.page.evaluate(`location.href = '/invitation${new URL(fresh.data!.link).hash}'`)
    await late.page.getByText('late@example.com').waitFor()
    await late.page.evaluate(`location.href = '/invitation${usedHash}'`)
    await late.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    expect(await late.page.getByRole('button', { name: 'Join' }).count()).toBe(0)
    await late.page.getByRole('button', { name: 'Go to the sign-in' }).click()
    await late.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await late.context.close()
  })
})

describe('a person who already has a login', { timeout: 60_000 }, () => {
  it('enters the account of the invitation link that was followed', async () => {
    const { app } = server
    const second = await app.createAccount()
    // A name that sorts after the other account in every list.
    await app.admin('PATCH', `/accounts/${second.id}`, { name: 'Zebra' })
    const { body } = await app.admin('POST', '/members/invitations', {
      email: PERSON.email,
      role: 'owner',
      accountId: second.id,
    })
    const { pathname, hash } = new URL((body['data'] as { link: string }).link)
    const { page, go, context } = await server.open()
    await go(pathname + hash)
    await page.getByRole('heading', { name: 'Join Zebra as owner' }).waitFor()
    await page.getByLabel('Your password').fill(PERSON.password)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const nav = page.getByRole('navigation', { name: 'Pages' })
    await nav.getByRole('button').first().waitFor()
    expect(await nav.getByRole('button').first().textContent()).toContain('Zebra')
    await context.close()
  })
})

describe('the owner of a suspended account', { timeout: 60_000 }, () => {
  it('reads that it is suspended, without figures that stay empty', async () => {
    const { page, go } = owner
    const { body } = await server.app.admin('GET', '/accounts')
    const demo = (body['data'] as { id: string; name: string }[]).find(({ name }) => name === 'Demo')!
    await server.app.admin('PATCH', `/accounts/${demo.id}`, { status: 'suspended' })
    for (const [path, figure] of [
      ['/', 'Delivered'],
      ['/wallet', 'Credited'],
    ] as const) {
      await go(path)
      await page.getByText('This account is suspended.').first().waitFor()
      expect(await page.locator('#main').getByText(figure, { exact: true }).count(), path).toBe(0)
    }
    await server.app.admin('PATCH', `/accounts/${demo.id}`, { status: 'active' })
  })
})

/**
 * The pages that an invited member may open: sending and reading, unless the owner sets other permissions.
 */
function ofMembers(need: Need, permissions: readonly string[] = []): boolean {
  const may = need === 'anyone' || need === 'member'
  return may && permissions.every(each => ['messages:create', 'messages:read'].includes(each))
}

async function linksOf({ page }: Window): Promise<(string | null)[]> {
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
  return Promise.all(links.map(link => link.getAttribute('href')))
}

type SignedIn = { data: { csrfToken: string; memberships: [{ account: { id: string } }] } }
type Refused = { code?: string; data?: { link: string } }

/** The response to a request sent by a script in the page, with its session. */
async function asSignedIn({ page }: Window, method: string, path: string, body?: object): Promise<Refused> {
  return page.evaluate(
    async ([method, path, body]) => {
      const session = (await (await fetch('/api/console/session')).json()) as SignedIn
      const headers = {
        'content-type': 'application/json',
        'x-csrf-token': session.data.csrfToken,
        'x-posthorn-account': session.data.memberships[0].account.id,
        'x-posthorn-mode': 'test',
      }
      const answer = await fetch(path, { method, headers, ...(body !== null && { body }) })
      return (await answer.json()) as Refused
    },
    [method, path, body === undefined ? null : JSON.stringify(body)] as const,
  )
}
