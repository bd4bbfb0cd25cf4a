import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TemplateChange, TemplateState } from '../../../src/channels/provider.ts'
import { TEMPLATE_STATUSES, type TemplateStatus } from '../../../src/contract/template.ts'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import { claimRefs } from '../../../src/core/inbound/store.ts'
import { createTemplateStates } from '../../../src/core/templates/apply-state.ts'
import { createCreateTemplate } from '../../../src/core/templates/create.ts'
import { createTemplateEventPublisher } from '../../../src/core/templates/events.ts'
import type { TemplateMedia } from '../../../src/core/templates/header-file.ts'
import { providerNameOf } from '../../../src/core/templates/official-connection.ts'
import { claimName, releaseName, sweepNameClaims } from '../../../src/core/templates/official-store.ts'
import { createTemplatePoll } from '../../../src/core/templates/poll.ts'
import { createProviderTemplates, type TemplateLink } from '../../../src/core/templates/provider-templates.ts'
import {
  selectDefaultsFor,
  selectTemplate,
  setDefaultTemplate,
  type TemplateId,
} from '../../../src/core/templates/store.ts'
import { nextCheckAt, statusAfter, subTypeAfter } from '../../../src/core/templates/transitions.ts'
import { type AccountId, createIds, fromUuid, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const BODY = { name: 'parcel', category: 'chatapp', subType: 'utility', language: 'en', body: 'Hi' } as const

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

type ProviderResponse = Pick<TemplateState, 'status' | 'subType'> & { reason?: string }

/** The templates of an account at a provider whose responses the test sets. */
function setUp(onPlatformNumber = false) {
  const clock = createFakeClock(Date.now())
  const ids = createIds(clock, createRandom())
  const { db } = database
  const accountId = ids.next('acc')
  const connectionId = ids.next('cnn')
  const applied: string[] = []
  /** The provider’s response for a name: null if it has no such template, an error if it fails. */
  let response: ProviderResponse | null | Error = { status: 'pending' }
  const asked: string[] = []
  /** What happens while the provider's response to a poll is under way. */
  let meanwhile = async () => {}
  const byId = new Map<string, TemplateState>()
  /** A name for which the provider fails. */
  let failing = ''

  const stateOf = (
    name: string,
    { status, reason = undefined, subType }: ProviderResponse,
  ): TemplateState => ({
    providerTemplateId: 'p1',
    name,
    language: 'en',
    status,
    reason: reason ?? null,
    ...(subType && { subType }),
  })
  const link: TemplateLink = {
    async submitTemplate({ name }) {
      if (response instanceof Error) throw response
      return { kind: 'submitted', state: stateOf(name, response ?? { status: 'pending' }) }
    },
    findTemplate: async id => byId.get(id) ?? null,
    async readTemplate(name) {
      asked.push(name)
      if (name === failing) throw new Error('refused')
      if (response instanceof Error) throw response
      const found = response && stateOf(name, response)
      await meanwhile()
      return found
    },
  }
  const tell = createTemplateEventPublisher({ clock, ids })
  const approvers = createProviderTemplates({ clock, linkOf: id => (id === connectionId ? link : undefined) })
  const states = createTemplateStates({
    db,
    clock,
    claimEvent: async (tx, connectionId, providerId) =>
      (await claimRefs(tx, clock.now(), [{ connectionId, providerId }])).size > 0,
    publishEvent: tell,
    applied: id => void applied.push(id),
  })
  let events = 0
  const report = (states: readonly TemplateChange[]) =>
    states.map(state => ({ kind: 'template' as const, eventId: `event ${++events}`, state }))
  const create = createCreateTemplate({
    db,
    clock,
    ids,
    media: {} as TemplateMedia,
    providerTemplates: approvers,
    publishEvent: tell,
    applied: id => void applied.push(id),
    connectionFor: async () => ({ connectionId, onPlatformNumber, sandbox: false }),
  })
  const poll = createTemplatePoll({ db, clock, providerTemplates: approvers, states })

  return {
    clock,
    applied,
    asked,
    accountId,
    setResponse: (next: ProviderResponse | null | Error) => {
      response = next
    },
    failFor: (name: string) => {
      failing = name
    },
    during: (work: () => Promise<void>) => {
      meanwhile = work
    },
    create: (body = {}, owner: AccountId = accountId) =>
      create({ accountId: owner, mode: 'live' }, { ...BODY, ...body }),
    has: (id: string, name: string) =>
      byId.set(id, { ...stateOf(name, { status: 'approved' }), providerTemplateId: id }),
    another: () => ids.next('acc'),
    tell: (status: TemplateState['status'], reason?: string) =>
      states.applyReports(
        connectionId,
        report([stateOf('parcel', { status, ...(reason !== undefined && { reason }) })]),
      ),
    /** A report with the provider's id of it; null where it has none. */
    tellEvent: (eventId: string | null, status: TemplateState['status']) =>
      states.applyReports(connectionId, [
        { kind: 'template', eventId, state: stateOf('parcel', { status }) },
      ]),
    /** Several states in one call of the provider. */
    tellTogether: (...told: TemplateState['status'][]) =>
      states.applyReports(connectionId, report(told.map(status => stateOf('parcel', { status })))),
    tellSubType: (subType: 'utility' | 'marketing') =>
      states.applyReports(
        connectionId,
        report([
          { providerTemplateId: 'p1', name: 'parcel', language: 'en', status: null, reason: null, subType },
        ]),
      ),
    poll,
    /** Polls until no check is due. */
    async pollAll() {
      while ((await poll()) > 0);
    },
    /** The templates of other tests, of which the same rounds would poll some. */
    deleteOthers: () => db.query({ name: 'delete_templates', text: 'delete from templates' }),
    read: async (id: TemplateId) => (await selectTemplate(db, accountId, id))!,
    async categories() {
      const { rows } = await db.query<{ told: string }>({
        name: 'categories_of',
        text: `select (data ->> 'status') || ': ' || (data ->> 'subType') || ' before '
            || coalesce(data ->> 'previousSubType', 'null') as told
          from events where account_id = $1 order by at, id`,
        values: [toUuid(accountId)],
      })
      return rows.map(({ told }) => told)
    },
    async events() {
      const { rows } = await db.query<{ type: string; data: { drift: boolean; reason: string | null } }>({
        name: 'events_of',
        text: `select type, data from events where account_id = $1 order by at, id`,
        values: [toUuid(accountId)],
      })
      return rows.map(
        ({ type, data }) => `${type}${data.drift ? ' drift' : ''}${data.reason ? `: ${data.reason}` : ''}`,
      )
    },
  }
}

describe('a state that the provider reports', () => {
  test('moves a template along the allowed transitions only, each once, with its reason', async () => {
    const { create, tell, read, events, applied, accountId } = setUp()
    const { id, status } = await create()
    expect(status).toBe('pending')
    const steps: [TemplateState['status'], string | undefined, TemplateStatus][] = [
      ['pending', undefined, 'pending'],
      ['approved', undefined, 'approved'],
      ['approved', undefined, 'approved'],
      ['pending', undefined, 'approved'],
      ['disabled', 'paused for its quality', 'disabled'],
      ['pending', undefined, 'disabled'],
      ['approved', undefined, 'approved'],
      ['rejected', 'after all', 'disabled'],
    ]
    for (const [told, reason, then] of steps) {
      await tell(told, reason)
      expect((await read(id)).status).toBe(then)
    }
    expect((await read(id)).reason).toBe('after all')
    expect(await events()).toEqual([
      'template.pending',
      'template.approved',
      'template.disabled: paused for its quality',
      'template.approved',
      'template.disabled: after all',
    ])
    expect(new Set(applied)).toEqual(new Set([accountId]))
  })

  test('is applied once if it arrives several times concurrently', async () => {
    const { create, tell, events } = setUp()
    await create()
    await Promise.all([1, 2, 3, 4].map(() => tell('approved')))
    expect(await events()).toEqual(['template.pending', 'template.approved'])
  })

  test('does not undo a later one if it arrives again', async () => {
    const { create, tellEvent, read, events } = setUp()
    const { id } = await create()
    await tellEvent('e1', 'approved')
    await tellEvent('e2', 'disabled')
    await tellEvent('e1', 'approved')
    expect((await read(id)).status).toBe('disabled')
    expect(await events()).toEqual(['template.pending', 'template.approved', 'template.disabled'])
    await tellEvent('e3', 'approved')
    expect((await read(id)).status).toBe('approved')
  })

  test('does not undo a later one if it changed nothing the first time', async () => {
    const { setResponse, create, tellEvent, read } = setUp()
    setResponse({ status: 'approved' })
    const { id } = await create()
    await tellEvent('e1', 'approved')
    await tellEvent('e2', 'disabled')
    await tellEvent('e1', 'approved')
    expect((await read(id)).status).toBe('disabled')
  })

  test('is applied each time if nothing tells repeats apart', async () => {
    const { create, tellEvent, read } = setUp()
    const { id } = await create()
    for (const status of ['approved', 'disabled', 'approved'] as const) await tellEvent(null, status)
    expect((await read(id)).status).toBe('approved')
  })

  test('is checked by a poll within a minute, since a later one may have arrived before it', async () => {
    const { clock, setResponse, create, tell, pollAll, read, events } = setUp()
    setResponse({ status: 'approved' })
    const { id } = await create()
    await tell('disabled', 'paused for its quality')
    await tell('approved')
    setResponse({ status: 'disabled', reason: 'paused for its quality' })
    await clock.advance(60_000)
    await pollAll()
    expect((await read(id)).status).toBe('disabled')
    expect(await events()).toEqual([
      'template.approved',
      'template.disabled: paused for its quality',
      'template.approved',
      'template.disabled drift: paused for its quality',
    ])
  })

  test('is checked by a poll within a minute also if it arrives during another poll', async () => {
    const { clock, setResponse, create, tell, during, pollAll, read } = setUp()
    setResponse({ status: 'approved' })
    const { id } = await create()
    during(async () => {
      await tell('disabled', 'paused for its quality')
      await tell('approved')
    })
    await clock.advance(3_600_000)
    await pollAll()
    during(async () => {})
    setResponse({ status: 'disabled', reason: 'paused for its quality' })
    await clock.advance(60_000)
    await pollAll()
    expect((await read(id)).status).toBe('disabled')
  })

  test('is not lost if another one arrives concurrently', async () => {
    const { create, tell, events } = setUp()
    await create()
    await Promise.all([tell('approved'), tell('disabled')])
    expect((await events()).toSorted()).toEqual([
      'template.approved',
      'template.disabled',
      'template.pending',
    ])
  })

  test('is applied in order if one call reports several', async () => {
    const { create, tellTogether, read, events } = setUp()
    const { id } = await create()
    await tellTogether('approved', 'disabled', 'approved', 'disabled')
    expect((await read(id)).status).toBe('disabled')
    const steps = ['approved', 'disabled', 'approved', 'disabled'].map(status => `template.${status}`)
    expect(await events()).toEqual(['template.pending', ...steps])
  })

  test('does not affect a template with another name', async () => {
    const { create, tell, read } = setUp()
    const { id } = await create({ name: 'other' })
    await tell('approved')
    expect((await read(id)).status).toBe('pending')
  })

  test('can be an approval in the response to the creation', async () => {
    const { setResponse, create, events } = setUp()
    setResponse({ status: 'approved' })
    expect((await create()).status).toBe('approved')
    expect(await events()).toEqual(['template.approved'])
  })
})

describe('a category that the provider changes', () => {
  test('is stored and published as an event, and nothing else changes', async () => {
    const { create, tell, tellSubType, read, categories, applied } = setUp()
    const { id } = await create()
    await tell('approved')
    applied.length = 0
    await tellSubType('marketing')
    await tellSubType('marketing')
    expect(await read(id)).toMatchObject({ status: 'approved', subType: 'marketing', reason: null })
    expect(applied).toHaveLength(1)
    await tell('disabled', 'paused')
    await tellSubType('utility')
    expect(await read(id)).toMatchObject({ status: 'disabled', subType: 'utility', reason: 'paused' })
    expect(await categories()).toEqual([
      'pending: utility before null',
      'approved: utility before utility',
      'approved: marketing before utility',
      'disabled: marketing before marketing',
      'disabled: utility before marketing',
    ])
  })

  test('is taken from the response to the creation, or found by polling', async () => {
    const { clock, setResponse, create, pollAll, read, categories, events } = setUp()
    setResponse({ status: 'approved', subType: 'marketing' })
    const { id, subType } = await create()
    expect(subType).toBe('marketing')
    setResponse({ status: 'approved', subType: 'utility' })
    await clock.advance(3_600_000)
    await pollAll()
    expect((await read(id)).subType).toBe('utility')
    expect(await categories()).toEqual([
      'approved: marketing before null',
      'approved: utility before marketing',
    ])
    expect(await events()).toEqual(['template.approved', 'template.approved drift'])
  })

  test('applies to utility and marketing, not to otp or free', async () => {
    expect(subTypeAfter('otp', { subType: 'marketing' })).toBeNull()
    expect(subTypeAfter('free', { subType: 'marketing' })).toBeNull()
    expect(subTypeAfter('utility', {})).toBeNull()
    expect(subTypeAfter('utility', { subType: 'utility' })).toBeNull()
    expect(subTypeAfter('marketing', { subType: 'utility' })).toBe('utility')
  })

  test('moves the default to the new category if the account has none there', async () => {
    const { create, tell, tellSubType, accountId } = setUp()
    const { db } = database
    const row = await create()
    await setDefaultTemplate(db, accountId, row)
    await tell('approved')
    await tellSubType('marketing')
    expect(await selectDefaultsFor(db, accountId)).toEqual([
      { accountId, category: 'chatapp', subType: 'marketing', templateId: row.id, status: 'approved' },
    ])
    await tellSubType('utility')
    expect(await selectDefaultsFor(db, accountId)).toEqual([
      { accountId, category: 'chatapp', subType: 'utility', templateId: row.id, status: 'approved' },
    ])
  })

  test('moves the defaults of all accounts for a template of the platform, unless they have one there', async () => {
    const { create, tell, tellSubType, another } = setUp()
    const { db } = database
    const shared = await create({}, PLATFORM)
    const [free, taken] = [another(), another()]
    const offer = await create({ name: 'offer', subType: 'marketing' }, taken)
    await setDefaultTemplate(db, free, shared)
    await setDefaultTemplate(db, taken, shared)
    await setDefaultTemplate(db, taken, offer)
    await tell('approved')
    await tellSubType('marketing')
    const of = async (id: AccountId) =>
      (await selectDefaultsFor(db, id)).map(({ subType, templateId }) => [subType, templateId])
    expect(await of(free)).toEqual([['marketing', shared.id]])
    expect(await of(taken)).toEqual([['marketing', offer.id]])
  })

  test('drops the default of the old category if the new one has a default, not that of another account', async () => {
    const { create, tell, tellSubType, another, accountId } = setUp()
    const { db } = database
    const row = await create()
    const marketing = await create({ name: 'offer', subType: 'marketing' })
    const chose = another()
    await setDefaultTemplate(db, accountId, row)
    await setDefaultTemplate(db, accountId, marketing)
    await setDefaultTemplate(db, chose, row)
    await tell('approved')
    await tellSubType('marketing')
    expect(await storedDefaults(accountId)).toEqual([['marketing', marketing.id]])
    expect(await storedDefaults(chose)).toEqual([['utility', row.id]])
  })
})

describe('polling', () => {
  test('applies an unreported change, with the time of the check, and marks its event as drift', async () => {
    const { clock, setResponse, create, poll, pollAll, read, events } = setUp()
    const { id } = await create()
    await pollAll()
    expect((await read(id)).lastCheckedAtMs).toBeNull()
    await clock.advance(5_000)
    await pollAll()
    expect(await read(id)).toMatchObject({ status: 'pending', lastCheckedAtMs: clock.now() })
    setResponse({ status: 'rejected', reason: 'spam' })
    await clock.advance(5_000)
    await pollAll()
    expect(await read(id)).toMatchObject({ status: 'rejected', reason: 'spam' })
    expect(await events()).toEqual(['template.pending', 'template.rejected drift: spam'])
    expect(await poll()).toBe(0)
  })

  test('repeats a check after a minute if the provider fails, without setting the time of the check', async () => {
    const { clock, setResponse, create, pollAll, read, asked } = setUp()
    setResponse({ status: 'approved' })
    const { id } = await create()
    setResponse(new Error('down'))
    await clock.advance(3_600_000)
    await pollAll()
    expect(asked).toHaveLength(1)
    expect(await read(id)).toMatchObject({ status: 'approved', lastCheckedAtMs: null })
    setResponse({ status: 'approved' })
    await clock.advance(60_000)
    await pollAll()
    expect((await read(id)).lastCheckedAtMs).toBe(clock.now())
  })

  test('leaves a provider that does not answer alone, with all templates of its connection, until it answers', async () => {
    const { clock, setResponse, create, pollAll, read, asked, deleteOthers } = setUp()
    await deleteOthers()
    setResponse({ status: 'approved' })
    const rows = []
    for (const letter of 'abcdefghijklmnopqrst') rows.push(await create({ name: `many_${letter}` }))
    setResponse(new Error('too many calls'))
    await clock.advance(3_600_000)
    for (let minute = 0; minute < 60; minute++) {
      await pollAll()
      await clock.advance(60_000)
    }
    // A round of ten after 0, 1, 3, 7, 15, 30 and 45 minutes.
    expect(asked).toHaveLength(70)
    setResponse({ status: 'disabled' })
    await clock.advance(15 * 60_000)
    await pollAll()
    for (const { id } of rows) expect((await read(id)).status).toBe('disabled')
    setResponse(new Error('down'))
    asked.length = 0
    await clock.advance(3_600_000)
    await pollAll()
    await clock.advance(60_000)
    await pollAll()
    expect(asked).toHaveLength(20)
  })

  test('goes on with a connection of whose templates one cannot be read', async () => {
    const { clock, setResponse, create, pollAll, asked, failFor, deleteOthers } = setUp()
    await deleteOthers()
    setResponse({ status: 'approved' })
    for (const name of ['bad', 'good', 'fine']) await create({ name })
    failFor('bad')
    await clock.advance(3_600_000)
    await pollAll()
    await clock.advance(60_000)
    await pollAll()
    expect(asked.toSorted()).toEqual(['bad', 'bad', 'fine', 'good'])
  })

  test('disables an approved template that the provider no longer has; a pending one stays pending', async () => {
    const { clock, setResponse, create, pollAll, read } = setUp()
    setResponse({ status: 'approved' })
    const approved = await create()
    setResponse({ status: 'pending' })
    const waiting = await create({ name: 'waiting' })
    setResponse(null)
    await clock.advance(3_600_000)
    await pollAll()
    expect(await read(approved.id)).toMatchObject({ status: 'disabled' })
    expect((await read(approved.id)).reason).toContain('has no template')
    expect((await read(waiting.id)).status).toBe('pending')
  })

  test('checks each template once if several nodes poll concurrently', async () => {
    const { clock, create, poll, asked } = setUp()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create({ name })
    await clock.advance(5_000)
    await Promise.all([poll(), poll(), poll()])
    expect(asked.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})

describe('the creation of a template', () => {
  test('stores nothing if the provider fails, and a submit without a response is unavailable', async () => {
    const { clock, setResponse, create, accountId } = setUp()
    setResponse(new Error('reset'))
    await expect(create()).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryAfterSeconds: 5 })
    const approvers = createProviderTemplates({
      clock,
      linkOf: () => ({ submitTemplate: () => new Promise(() => {}) }),
    })
    const answer = approvers.submit('cnn_x', {} as never)
    await clock.advance(30_000)
    expect(await answer).toMatchObject({ kind: 'unavailable' })
    setResponse({ status: 'pending' })
    expect((await create()).accountId).toBe(accountId)
  })
})

describe('statusAfter', () => {
  test('never returns to pending, and never changes an active template', () => {
    const told = ['pending', 'approved', 'rejected', 'disabled'] as const
    for (const from of TEMPLATE_STATUSES) {
      for (const status of told) {
        const next = statusAfter(from, { status })
        expect(next).not.toBe('pending')
        if (from === 'active') expect(next).toBeNull()
        expect(next).not.toBe(from)
      }
    }
  })
})

describe('nextCheckAt', () => {
  test('waits half the time since the start, from 5 s to 15 min; an hour for an approved template', () => {
    const gap = (waitedMs: number) => nextCheckAt('pending', 0, waitedMs) - waitedMs
    expect([0, 5_000, 60_000, 86_400_000].map(gap)).toEqual([5_000, 5_000, 30_000, 900_000])
    expect(nextCheckAt('approved', 0, 0)).toBe(3_600_000)
  })
})

describe('providerNameOf', () => {
  const line = { connectionId: 'cnn_1', onPlatformNumber: true, sandbox: false } as const
  test('adds a suffix per account on the platform’s number, and to no other name', () => {
    const name = (account: string, more = {}) =>
      providerNameOf('parcel', account as `acc_${string}`, { ...line, ...more })
    const [one, two] = [name('acc_01m7zfya87e70a0k047jvs2kk8'), name('acc_01m7zfya87e70a0k047jvs2kk9')]
    expect(one).toMatch(/^parcel_[0-9a-z]{10}$/)
    expect(one).not.toBe(two)
    expect(name('acc_1', { onPlatformNumber: false })).toBe('parcel')
    expect(name('acc_1', { sandbox: true })).toBe('parcel')
    expect(name(PLATFORM)).toBe('parcel')
  })
})

describe('a template on the platform’s number', () => {
  const binding = (providerTemplateId: string) =>
    ({ name: 'bound', creationMode: 'manual_external_id', providerTemplateId }) as const

  test('can be bound by every account unless another account created it', async () => {
    const { create, has, accountId, another, setResponse } = setUp(true)
    has('11', 'welcome_to_all')
    expect((await create(binding('11'))).official).toMatchObject({ providerName: 'welcome_to_all' })
    expect((await create(binding('11'), another())).status).toBe('approved')
    setResponse({ status: 'approved' })
    const theirs = await create({ name: 'private' })
    has('12', theirs.official!.providerName)
    await expect(create(binding('12'), another())).rejects.toMatchObject({
      details: [{ path: 'providerTemplateId' }],
    })
    expect((await create({ ...binding('12'), name: 'again' }, accountId)).status).toBe('approved')
  })
})

describe('the claim of a template name', () => {
  test('can be taken over once it has expired, and is swept', async () => {
    const { db } = database
    const claim = { accountId: 'acc_01m7zfya87e70a0k047jvs2kk8', name: 'dead', language: 'en' } as const
    const nowMs = Date.now()
    expect(await claimName(db, claim, nowMs, nowMs - 1_000)).toBe(true)
    expect(await claimName(db, claim, nowMs, nowMs - 1_000)).toBe(false)
    expect(await claimName(db, claim, nowMs + 2_000, nowMs + 1_000)).toBe(true)
    await sweepNameClaims(db, nowMs + 1_000)
    expect(await claimName(db, claim, nowMs + 2_500, nowMs + 1_000)).toBe(false)
    await sweepNameClaims(db, nowMs + 3_000)
    expect(await claimName(db, claim, nowMs + 2_500, nowMs)).toBe(true)
  })

  test('is not released by its first request once another one has taken it over', async () => {
    const { db } = database
    const claim = { accountId: 'acc_01m7zfya87e70a0k047jvs2kk8', name: 'frozen', language: 'en' } as const
    const nowMs = Date.now()
    expect(await claimName(db, claim, nowMs, nowMs - 1_000)).toBe(true)
    expect(await claimName(db, claim, nowMs + 2_000, nowMs + 1_000)).toBe(true)
    await releaseName(db, claim, nowMs)
    expect(await claimName(db, claim, nowMs + 2_500, nowMs + 1_000)).toBe(false)
    await releaseName(db, claim, nowMs + 2_000)
    expect(await claimName(db, claim, nowMs + 2_500, nowMs + 1_000)).toBe(true)
  })
})

/** Also those that refer to a template of another account, which none can choose. */
async function storedDefaults(accountId: AccountId) {
  const { rows } = await database.db.query<{ sub_type: string; template_id: string }>({
    name: 'test_stored_defaults',
    text: 'select sub_type, template_id from template_defaults where account_id = $1',
    values: [toUuid(accountId)],
  })
  return rows.map(row => [row.sub_type, fromUuid('tpl', row.template_id)])
}
