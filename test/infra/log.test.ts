import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createLog, type LogOptions } from '../../src/infra/log.ts'

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const log = createLog({ level: 'info', stream: { write: line => void lines.push(line) }, ...options })
  return { log, lines, fields: () => JSON.parse(lines.at(-1)!) as Record<string, unknown> }
}

describe('the log', () => {
  it('writes one JSON object per line, with level and time as text', () => {
    const { log, lines, fields } = capture()
    log.info({ requestId: 'req_1', durationMs: 3 }, 'answered')
    expect(lines).toHaveLength(1)
    expect(fields()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      requestId: 'req_1',
      durationMs: 3,
      message: 'answered',
    })
  })

  it('redacts every secret, at any depth and in any spelling', () => {
    const { log, lines } = capture()
    log.info(
      {
        headers: { Authorization: 'hunter2', 'X-API-Key': 'hunter2', cookie: ['hunter2'] },
        send: { to: '+4915112345678', text: 'hunter2', content: { text: 'hunter2', otpCode: 'hunter2' } },
        template: { variablesIndexed: ['hunter2'], variables_named: { 1: 'hunter2' } },
        list: [{ connection: { config: { password: 'hunter2', access_token: 'hunter2' } } }],
        appSecret: { nested: 'hunter2' },
      },
      'a send',
    )
    expect(lines[0]).not.toContain('hunter2')
    expect(lines[0]).toContain('+4915112345678')
  })

  it('redacts secrets in the fields of child loggers', () => {
    const { log, lines } = capture()
    log.child({ apiKey: 'hunter2', token: 'hunter2', accountId: 'acc_1' }).info('hello')
    expect(lines[0]).not.toContain('hunter2')
    expect(lines[0]).toContain('acc_1')
  })

  it('redacts an API key inside a message', () => {
    const { log, fields } = capture()
    log.warn('the key ph_live_0123456789abcdefABCDEF was revoked')
    expect(fields()['message']).toBe('the key ph_live_•••••• was revoked')
  })

  it('writes only name, code, message, stack and cause of an error', () => {
    const { log, fields } = capture()
    const cause = Object.assign(new Error('inner'), { code: '23505', detail: 'Key (text)=(hunter2)' })
    log.error({ err: new TypeError('outer', { cause }) }, 'failed')
    expect(fields()['err']).toEqual({
      type: 'TypeError',
      message: 'outer',
      stack: expect.stringContaining('TypeError: outer'),
      cause: { type: 'Error', code: '23505', message: 'inner', stack: expect.any(String) },
    })
  })

  it('writes values that are not plain data as JSON does', () => {
    const { log, lines, fields } = capture()
    class Point {
      readonly x = 1
      readonly at = new Date(0)
    }
    log.info({
      at: new Date(0),
      url: new URL('https://example.org/a'),
      own: { toJSON: () => 'own text' },
      point: new Point(),
      bytes: Buffer.from('AB'),
      map: new Map([['a', 1]]),
      gone: undefined,
      none: null,
      run() {},
      nan: Number.NaN,
    })
    expect(lines).toHaveLength(1)
    expect(fields()).toEqual({
      level: 'info',
      time: expect.any(String),
      at: '1970-01-01T00:00:00.000Z',
      url: 'https://example.org/a',
      own: 'own text',
      point: { x: 1, at: '1970-01-01T00:00:00.000Z' },
      bytes: { type: 'Buffer', data: [65, 66] },
      map: {},
      none: null,
      nan: null,
    })
  })

  it('redacts secrets in an object without a prototype', () => {
    const { log, fields } = capture()
    log.info({ bare: Object.assign(Object.create(null), { name: 'a', password: 'hunter2' }) })
    expect(fields()['bare']).toEqual({ name: 'a', password: '••••••' })
  })

  it('cuts objects and arrays that are nested too deeply or contain themselves', () => {
    const { log, lines, fields } = capture()
    const loop: Record<string, unknown> = { name: 'loop' }
    loop['self'] = loop
    log.info({
      deep: { a: { b: { c: { d: { e: { f: { g: 'deep' } } } } } } },
      list: [[[[[[['deep']]]]]]],
      loop,
    })
    expect(fields()['deep']).toEqual({ a: { b: { c: { d: { e: '••••••' } } } } })
    expect(fields()['list']).toEqual([[[[['••••••']]]]])
    expect(lines[0]!.match(/"name":"loop"/g)).toHaveLength(5)
  })

  it('writes readable lines in pretty mode', () => {
    const { log, lines } = capture({ pretty: true })
    log.warn({ port: 8080, err: new Error('too bad') }, 'careful')
    const line = stripVTControlCharacters(lines[0]!)
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}careful port=8080\n {4}Error: too bad\n/)
  })

  it('escapes line breaks and terminal sequences in pretty mode', () => {
    const { log, lines } = capture({ pretty: true })
    const words = 'no\u001b]0;title\u0007\u001b[2K\r\n08:00:00.000 info  forged\u009b2J\u007f\tè'
    log.warn({ detail: words, given: { words }, err: new Error(words) }, words)
    const [head, ...stack] = stripVTControlCharacters(lines[0]!).split('\n')
    const shown = 'no\\u001b]0;title\\u0007\\u001b[2K\\r\\n08:00:00.000 info  forged\\u009b2J\\u007f\\tè'
    expect(head).toContain(` ${shown} detail=${shown} given={"words":"${shown}"}`)
    expect(stack[0]).toBe('    Error: no\\u001b]0;title\\u0007\\u001b[2K\\r')
    expect(stack[1]).toMatch(/^ {4}08:00:00\.000 info {2}forged\\u009b2J\\u007f\\tè$/)
  })

  /** Logs two lines when its input ends, the last one fatal, and exits. */
  function startLogging() {
    const script = `
      import { createLog } from ${JSON.stringify(new URL('../../src/infra/log.ts', import.meta.url).href)}
      const log = createLog({ level: 'info' })
      process.stdin.resume().once('end', () => {
        log.info('one')
        log.fatal('two')
        process.exit(1)
      })`
    return spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
  }

  it('writes every line before the process exits', async () => {
    const child = startLogging()
    child.stdin.end()
    const words = (await child.stdout.toArray()).join('').trim().split('\n')
    expect(words.map(line => JSON.parse(line).message).sort()).toEqual(['one', 'two'])
  })

  it('drops lines when the reader is too slow, and reports how many', async () => {
    const lines = 30_000
    const script = `
      import { createLog } from ${JSON.stringify(new URL('../../src/infra/log.ts', import.meta.url).href)}
      const log = createLog({ level: 'info' })
      for (let at = 0; at < ${lines}; at++) log.info('x'.repeat(1_024))
      process.stderr.write('written')
      process.stdin.resume()`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
    await once(child.stderr, 'data')
    let bytes = 0
    let read = 0
    for await (const text of createInterface(child.stdout)) {
      bytes += text.length
      read++
      const { lost } = JSON.parse(text) as { lost?: number }
      if (lost === undefined) continue
      expect(lost + read - 1).toBe(lines)
      child.stdin.end()
    }
    expect(bytes).toBeLessThan(17 * 1024 * 1024)
    expect(read).toBeLessThan(lines)
  })

  it('does not keep the process from exiting when its reader is gone', async () => {
    const child = startLogging()
    const exit = once(child, 'exit')
    child.stdout.destroy()
    await once(child.stdout, 'close')
    child.stdin.end()
    expect(await exit).toEqual([1, null])
  })

  it.runIf(process.platform === 'linux')('does not crash the process when it cannot be written', async () => {
    const script = `
      import { write } from 'node:fs'
      import { createLog } from ${JSON.stringify(new URL('../../src/infra/log.ts', import.meta.url).href)}
      const log = createLog({ level: 'info' })
      log.info('one')
      // What is written behind it has failed too, twice, when it must have been heard of.
      write(1, 'two', () => write(1, 'three', () => setImmediate(() => process.exit(7))))`
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', full, 'ignore'],
    })
    closeSync(full)
    expect(await once(child, 'exit')).toEqual([7, null])
  })
})
