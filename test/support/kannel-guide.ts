import { readFileSync } from 'node:fs'
import type { HttpSmsConfig } from '../../src/channels/http-sms/config.ts'

/** What the guide says of Kannel: the configuration of the connection, and groups of Kannel's own. */

const GUIDE = readFileSync(new URL('../../docs/providers-http-sms.md', import.meta.url), 'utf8')
const [, SECTION = ''] = GUIDE.split('### Kannel\n')

export const KANNEL_CONNECTION = JSON.parse(/```json\n(.*?)```/s.exec(SECTION)![1]!) as HttpSmsConfig
export const KANNEL_GROUPS = /```\n(group.*?)```/s.exec(SECTION)![1]!
