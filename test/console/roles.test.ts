import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Console, findBarriers, setUp, startConsole, takePicture, type Window } from './support.ts'

const MEMBER = { name: 'Grace', password: 'another long sentence' }

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
    const ownersLinks = await linksOf(owner)
    const links = await linksOf(member)
    expect(ownersLinks).toContain('/keys')
    expect(links).toContain('/messages')
    expect(links).not.toContain('/keys')
    await go('/keys')
    await page.getByText('There is no such page for you here').waitFor()
    const key = { name: 'Mine', mode: 'test', permissions: ['messages:create'] }
    const refused = [
      await asSignedIn(member, 'POST', '/api/v2/api-keys', key),
      await asSignedIn(member, 'GET', '/api/v2/members'),
      await asSignedIn(member, 'GET', '/api/admin/accounts'),
    ].map(({ code }) => code)
    expect(refused).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'])
  })

  it('finds a used link explained, with a way on', async () => {
    const late = await server.open()
    await late.go('/invitation#inv_not-a-link')
    await late.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    await late.page.getByRole('button', { name: 'To the sign-in' }).click()
    await late.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await late.context.close()
  })
})

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
