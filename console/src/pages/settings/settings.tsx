import { Anchor, Skeleton, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../api/use-read.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { AccountFacts } from './account-facts.tsx'
import { Plan } from './plan.tsx'
import { QuietHours } from './quiet-hours.tsx'

/** The account's data, and the settings that its owners may change. */
export default function Settings() {
  const read = useRead('/api/v2/account', undefined, { inBothModes: true })
  const account = read.data?.data
  return (
    <Page title="Account" lead="Settings that apply to every message of this account." narrow>
      {read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!account && !read.error && <Skeleton h={420} />}
      {account && (
        <Stack gap="lg">
          <AccountFacts account={account} />
          <QuietHours quietHours={account.quietHours} />
          <Plan plan={account.plan} />
          <Card title="Verification">
            <Text c="dimmed">
              The settings of codes are on the page{' '}
              <Anchor component={Link} href="/verification/settings" underline="always">
                Verification
              </Anchor>
              .
            </Text>
          </Card>
        </Stack>
      )}
    </Page>
  )
}
