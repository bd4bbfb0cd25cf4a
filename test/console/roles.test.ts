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

/** The console's own table of pages; by its address, since what it draws is no part of the tests' program. */
const TABLE = new URL('../../console/src/pages.ts', import.meta.url).href
const { PAGES } = (await import(TABLE)) as {
  PAGES: readonly { path: string; need: Need; permission?: string }[]
}

const MEMBER = { name: 'Grace', password: 'another long sentence' }

/** A page that whoever may read sees, what stands on it in any case, and what one needs more for. */
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

beforeAll(async () => {
  server = await startConsole()
  owner = await server.open()
  await setUp(owner)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('a member', { timeout: 60_000 }, () => {
  it('comes in by the link that an owner sent', async () => {
    const invited = await asSignedIn(owner, 'POST', '/api/v2/members/invitations', {
      email: 'grace@example.com',
      role: 'member',
    })
    expect(invited.code).toBeUndefined()
    const { pathname, hash } = new URL(invited.data!.link)
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

  it('is shown no page that is not theirs, and refused by the API as well', async () => {
    const { page, go } = member
    const [ownersLinks, links] = [await linksOf(owner), await linksOf(member)]
    // Where the operator is an owner, too, every page stands in the navigation.
    expect(ownersLinks).toEqual(expect.arrayContaining(PAGES.map(({ path }) => path)))
    const closed = PAGES.filter(({ need, permission }) => !ofMembers(need, permission))
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

  it('who may only read is offered nothing that writes', async () => {
    const { data } = await asSignedIn(owner, 'GET', '/api/v2/members')
    const grace = (data as unknown as { id: string; name: string }[]).find(({ name }) => name === MEMBER.name)
    const reading = { permissions: ['messages:read'] }
    await asSignedIn(owner, 'PATCH', `/api/v2/members/${grace!.id}`, reading)
    await Promise.all([member.go('/'), owner.go('/')])
    // Who carries what is for who may send; the figures are there all the same.
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

  it('who loses a right is told so by the page that it opened, and by the navigation', async () => {
    const { data } = await asSignedIn(owner, 'GET', '/api/v2/members')
    const grace = (data as unknown as { id: string; name: string }[]).find(({ name }) => name === MEMBER.name)
    await member.turn('/messages')
    await member.page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
    await asSignedIn(owner, 'PATCH', `/api/v2/members/${grace!.id}`, { permissions: ['messages:create'] })
    await member.page.getByText('Page not found').waitFor()
    expect(await linksOf(member)).not.toContain('/messages')
  })

  it('finds a used link explained, with a way on', async () => {
    const late = await server.open()
    // Of a server that is away nobody knows whether the link is good.
    await late.context.route('**/invitations/read', route => route.abort('connectionrefused'))
    await late.go('/invitation#inv_not-a-link')
    await late.page.getByText('The server does not answer').waitFor()
    expect(await late.page.getByText('This link does not work').count()).toBe(0)
    await late.context.unroute('**/invitations/read')
    await late.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    // The next one that was sent, in the same tab: only what stands behind the # is another.
    const fresh = await asSignedIn(owner, 'POST', '/api/v2/members/invitations', {
      email: 'late@example.com',
      role: 'member',
    })
    await late.page.evaluate(`location.href = '/invitation${new URL(fresh.data!.link).hash}'`)
    await late.page.getByText('late@example.com').waitFor()
    await late.page.evaluate(`location.href = '/invitation#inv_not-a-link'`)
    await late.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    await late.page.getByRole('button', { name: 'Go to the sign-in' }).click()
    await late.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await late.context.close()
  })
})

describe('somebody who has a login', { timeout: 60_000 }, () => {
  it('comes into the account of the link that was followed, and not into another one', async () => {
    const { app } = server
    const second = await app.createAccount()
    // Behind the other one in every list.
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

/** What an invited member may open: they send and read, unless the owner has said otherwise. */
function ofMembers(need: Need, permission: string | undefined): boolean {
  const may = need === 'anyone' || need === 'member'
  return may && (permission === undefined || ['messages:create', 'messages:read'].includes(permission))
}

async function linksOf({ page }: Window): Promise<(string | null)[]> {
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
  return Promise.all(links.map(link => link.getAttribute('href')))
}

type SignedIn = { data: { csrfToken: string; memberships: [{ account: { id: string } }] } }
type Refused = { code?: string; data?: { link: string } }

/** What a script in the page would get, with all that the session has. */
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
