import { describe, expect, test } from 'vitest'
import { readChatKeyword, readKeyword } from '../../../src/core/consent/keywords.ts'

describe('words that end marketing', () => {
  test.each([
    'STOP',
    'stop',
    ' Stop. ',
    'S T O P',
    '"stop"',
    'STOP!!!',
    'StopAll',
    'stop all',
    'Unsubscribe',
    'CANCEL',
    'end',
    'QUIT',
    'STOPP',
    'abmelden',
    'ARRÊT',
    'arret',
    'Arrêt.',
    'BAJA',
    'parar',
    'Cancella',
    'sair',
    'Стоп',
    'стоп!',
    'إيقاف',
    'ايقاف',
    'إِيقاف',
    'إلغاء',
    'הסר',
    '退订',
    '停止',
    'रोकें',
    'iptal',
    'İPTAL',
    'ıptal',
    'ΣΤΟΠ',
    'Διακοπή',
    // Emoji bring a mark with them that says how they are drawn, and some a frame.
    'STOP ❤️',
    'STOP‼️',
    '⛔️ STOP ⛔️',
    '#️⃣ stop',
    'STOP 🛑',
    'STOP 👎🏽',
    'रोकें ⚠️',
    // However many of them.
    `STOP${'!'.repeat(100)}`,
    `STOP ${'🙏🏽'.repeat(20)}`,
    `${'\n'.repeat(70)}stop`,
  ])('%s', text => {
    expect(readKeyword(text)).toBe('stop')
  })
})

test.each(['START', 'unstop', 'Yes', 'yes!', 'Alta', 'ابدأ', 'opt-in', 'START ✔️'])(
  '%s begins it again',
  text => {
    expect(readKeyword(text)).toBe('start')
  },
)

test.each([
  null,
  '',
  '   ',
  '!!!',
  'please stop',
  'stop it',
  'stop by at five',
  'nonstop',
  'stopping',
  'the end',
  'yes please',
  'no',
  'रक',
  `stop ${'please '.repeat(20)}`,
  'stop'.repeat(10_000),
])('%s is a message like any other', text => {
  expect(readKeyword(text)).toBeNull()
})

test('everyday words decide nothing in a chat, whatever stands before or after them', () => {
  for (const text of ['cancel', `cancel${'!'.repeat(100)}`, `${'🙄'.repeat(40)} cancel`]) {
    expect(readChatKeyword(text)).toBeNull()
    expect(readKeyword(text)).toBe('stop')
  }
  expect(readChatKeyword(`${'🙄'.repeat(40)} stop`)).toBe('stop')
})
