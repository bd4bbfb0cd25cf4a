import { type Static, Type } from 'typebox'
import { BaseUrl, HTTP_FIELDS, pathOf } from '../http/config.ts'

const API_ROOT = 'https://api.telegram.org'

export const Config = Type.Object(
  {
    apiRoot: Type.Optional(BaseUrl(API_ROOT)),
    ...HTTP_FIELDS,
  },
  { additionalProperties: false },
)

export type TelegramConfig = Static<typeof Config>

/** The origin of the Bot API, and the path before all of its methods, without a slash at the end. */
export function rootOf({ apiRoot }: Pick<TelegramConfig, 'apiRoot'>): { origin: URL; root: string } {
  const origin = new URL(apiRoot ?? API_ROOT)
  return { origin, root: `${origin.origin}${pathOf(origin)}` }
}
