import { lazy } from 'react'
import { BotList } from './bot-list.tsx'

const BotPage = lazy(() => import('./bot-page.tsx'))

/** The account's bots, or one of them with its subscribers. */
export default function Bots({ botId }: { botId?: string }) {
  return botId === undefined ? <BotList /> : <BotPage key={botId} botId={botId} />
}
