/** Every character with a meaning in MarkdownV2. Source: https://core.telegram.org/bots/api#markdownv2-style. */
const SPECIAL = /[\\_*[\]()~`>#+\-=|{}.!]/g

/** Escapes a text so that MarkdownV2 shows it unchanged. */
export function escapeMarkdown(text: string): string {
  return text.replace(SPECIAL, '\\$&')
}
