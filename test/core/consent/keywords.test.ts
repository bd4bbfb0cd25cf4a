import { describe, expect, test } from 'vitest'
import { readChatKeyword, readKeyword } from '../../../src/core/consent/keywords.ts'

describe('a message that ends marketing', () => {
  test.each([
    'STOP',
    'stop',
    ' Stop. ',
    'S T O P',
    '"stop"',
    'STOP!!!',
    'StopAll',
    'stop all',
    'Stop promotions',
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
    // Emoji come with a variation selector, and some with an enclosing keycap.
    'STOP ❤️',
    'STOP‼️',
    '⛔️ STOP ⛔️',
    '#️⃣ stop',
    'STOP 🛑',
    'STOP 👎🏽',
    'रोकें ⚠️',
    // In any number.
    `STOP${'!'.repeat(100)}`,
    `STOP ${'🙏🏽'.repeat(20)}`,
    `${'\n'.repeat(70)}stop`,
  ])('%s is read as stop', text => {
    expect(readKeyword(text)).toBe('stop')
  })
})

test.each(['START', 'unstop', 'Yes', 'yes!', 'Alta', 'ابدأ', 'opt-in', 'START ✔️'])(
  '%s is read as start',
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
  'stop promoting this',
  'nonstop',
  'stopping',
  'the end',
  'yes please',
  'no',
  'रक',
  `stop ${'please '.repeat(20)}`,
  'stop'.repeat(10_000),
])('%s is not a keyword', text => {
  expect(readKeyword(text)).toBeNull()
})

test('everyday words are no keywords in a chat, whatever marks and emoji surround them', () => {
  for (const text of ['cancel', `cancel${'!'.repeat(100)}`, `${'🙄'.repeat(40)} cancel`]) {
    expect(readChatKeyword(text)).toBeNull()
    expect(readKeyword(text)).toBe('stop')
  }
  expect(readChatKeyword(`${'🙄'.repeat(40)} stop`)).toBe('stop')
})
