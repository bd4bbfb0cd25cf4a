/** A message's decision on marketing to its author. */
export type Keyword = 'stop' | 'start'

/**
 * Words that end marketing if they are the whole message. The English ones are those that
 * North American carriers require; the others are usual in opt-out
 * texts of their language. docs/suppressions.md has the same table.
 */
const STOP_WORDS: readonly string[] = [
  // English
  ...['stop', 'stopall', 'stop all', 'unsubscribe', 'cancel', 'end', 'quit', 'revoke', 'optout', 'opt out'],
  // The label that WhatsApp gives to the opt-out button of a marketing template.
  'stop promotions',
  // German, Dutch
  ...['stopp', 'abmelden', 'abbestellen', 'afmelden', 'uitschrijven'],
  // French
  ...['arret', 'arreter', 'desabonner'],
  // Spanish, Portuguese, Catalan
  ...['baja', 'parar', 'alto', 'cancelar', 'sair', 'pare', 'descadastrar'],
  // Italian, Romanian
  ...['ferma', 'cancella', 'disiscrivi', 'opreste', 'dezabonare'],
  // Polish, Czech, Turkish, Swedish, Finnish
  ...['rezygnuje', 'wypisz', 'odhlasit', 'dur', 'iptal', 'ret', 'avsluta', 'lopeta'],
  // Russian, Ukrainian, Greek
  ...['стоп', 'отписаться', 'відписатися', 'στοπ', 'διακοπη'],
  // Arabic, Persian, Hebrew
  ...['إيقاف', 'ايقاف', 'إلغاء', 'الغاء', 'توقف', 'قف', 'لغو', 'הסר', 'הסרה'],
  // Hindi, Chinese, Japanese, Korean, Indonesian, Vietnamese
  ...['रोकें', 'बंद', '停止', '退订', '退訂', '取消', '配信停止', '수신거부', 'berhenti', 'dung'],
]

/** Words that end it again. */
const START_WORDS: readonly string[] = [
  // English
  ...['start', 'unstop', 'yes', 'resume', 'subscribe', 'optin', 'opt in'],
  // German, Dutch, French
  ...['anmelden', 'aanmelden', 'reprendre'],
  // Spanish, Portuguese, Italian
  ...['alta', 'inicio', 'iniciar', 'continuar', 'riattiva'],
  // Russian, Arabic
  ...['старт', 'ابدأ', 'اشتراك'],
]

/**
 * Words that are also usual answers to a question of a bot or an assistant. In a chat they decide
 * nothing; an SMS of only such a word has no other meaning.
 */
const EVERYDAY_WORDS: readonly string[] = [
  ...['cancel', 'end', 'yes', 'resume', 'cancelar', 'continuar', 'cancella', 'iptal'],
  ...['إلغاء', 'الغاء', 'لغو', '取消'],
]

/**
 * Marks that people leave out, or that phones add: accents of Latin, Greek and Cyrillic, vowel points of
 * Hebrew and Arabic, and variation selectors of emoji.
 */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\p{Variation_Selector}\p{Me}]/gu

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...START_WORDS.map(word => [bare(word), 'start'] as const),
  ...STOP_WORDS.map(word => [bare(word), 'stop'] as const),
])

const EVERYDAY: ReadonlySet<string> = new Set(EVERYDAY_WORDS.map(bare))

/** A bot command: `/stop`, `/stop@a_bot`, `/start` with its payload. */
const COMMAND = /^\/([a-z]+)(?:@\w+)?(?:\s.*)?$/is

/** More letters than the longest keyword has. Spaces, punctuation and emoji beside it may be any number. */
const TOO_MANY_LETTERS = /^(?:\P{L}*\p{L}){61}/u

/** The keyword that is the whole message, ignoring case, spaces, punctuation and accents; else null. */
export function readKeyword(text: string | null): Keyword | null {
  if (text === null || TOO_MANY_LETTERS.test(text)) return null
  return KEYWORDS.get(bare(text)) ?? null
}

/** The same for a chat, where bot commands count too, and EVERYDAY_WORDS do not. */
export function readChatKeyword(text: string | null): Keyword | null {
  if (text === null) return null
  const word = COMMAND.exec(text)?.[1] ?? text
  const keyword = readKeyword(word)
  return keyword === null || EVERYDAY.has(bare(word)) ? null : keyword
}

/** Only letters and digits, without case and marks: "ARRÊT!" and "arret" are equal. The ı is a Turkish lower-case I. */
function bare(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ı', 'i')
    .replace(MARKS, '')
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '')
}
