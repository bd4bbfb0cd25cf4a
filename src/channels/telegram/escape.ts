/** Every character that MarkdownV2 may read as its own. Source: https://core.telegram.org/bots/api#markdownv2-style. */
const SPECIAL = /[\\_*[\]()~`>#+\-=|{}.!]/g

/** A text in MarkdownV2 that reads as it was written. */
export function escapeMarkdown(text: string): string {
  return text.replace(SPECIAL, '\\$&')
}
