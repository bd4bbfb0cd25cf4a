/** What a message from a person says of marketing to them. */
export type Keyword = 'stop' | 'start'

/**
 * Words that end marketing when a message is nothing but one of them. English as
 * North American carriers ask for it; the others are the usual word of opt-out
 * texts in their language. docs/suppressions.md has the same table.
 */
const STOP_WORDS: readonly string[] = [
  // English
  ...['stop', 'stopall', 'stop all', 'unsubscribe', 'cancel', 'end', 'quit', 'revoke', 'optout', 'opt out'],
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
 * Of these, what people also say to a bot or an assistant that asks them something: there they decide
 * nothing, while an SMS that says nothing else has no other meaning.
 */
const EVERYDAY_WORDS: readonly string[] = [
  ...['cancel', 'end', 'yes', 'resume', 'cancelar', 'continuar', 'cancella', 'iptal'],
  ...['إلغاء', 'الغاء', 'لغو', '取消'],
]

/**
 * What people leave out, or their telephones put in: accents of Latin, Greek and Cyrillic, vowel points of
 * Hebrew and Arabic, and what stands behind an emoji to say how it is drawn.
 */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\p{Variation_Selector}\p{Me}]/gu

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ...START_WORDS.map(word => [bare(word), 'start'] as const),
  ...STOP_WORDS.map(word => [bare(word), 'stop'] as const),
])

const EVERYDAY: ReadonlySet<string> = new Set(EVERYDAY_WORDS.map(bare))

/** A command as people give it to a bot: `/stop`, `/stop@a_bot`, `/start` with its payload. */
const COMMAND = /^\/([a-z]+)(?:@\w+)?(?:\s.*)?$/is

/** No longer text is one of the words. */
const LONGEST = 60

/** The keyword that a message consists of, whatever its case, spaces, punctuation and accents; null for any other. */
export function readKeyword(text: string | null): Keyword | null {
  if (text === null || text.length > LONGEST) return null
  return KEYWORDS.get(bare(text)) ?? null
}

/** The same of a chat, where a bot's commands count too, and words of everyday answers do not. */
export function readChatKeyword(text: string | null): Keyword | null {
  const word = text === null ? null : (COMMAND.exec(text)?.[1] ?? text)
  return word === null || EVERYDAY.has(bare(word.slice(0, LONGEST))) ? null : readKeyword(word)
}

/** Letters and digits alone, without case and marks: "ARRÊT!" and "arret" are one. */
function bare(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '')
}
