import { Group, Text } from '@mantine/core'
import type { AccountView } from '../../../../sdk/index.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { countryName } from '../../parts/country-name.ts'
import { Card } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'

export function AccountFacts({ account }: { account: AccountView }) {
  const { id, name, status, homeCountry, currency, phone } = account
  return (
    <Card title="Profile" aside={<StatusBadge status={status} />}>
      <Facts
        facts={[
          ['Name', <bdi key="n">{name}</bdi>],
          [
            'Home country',
            <span key="h">
              {countryName(homeCountry)}{' '}
              <Text span c="dimmed" size="sm">
                SMS to it are local, others international
              </Text>
            </span>,
          ],
          ['Currency', currency],
          [
            'Phone',
            phone.number === null ? (
              '–'
            ) : (
              <Group key="p" gap="md">
                <bdi className="ph-num">{phone.number}</bdi>
                <StatusBadge
                  status={phone.verified ? 'verified' : 'pending'}
                  label={phone.verified ? 'Verified' : 'Not verified'}
                />
              </Group>
            ),
          ],
          ['Id', <CopyId key="i" id={id} what="the id of the account" />],
        ]}
      />
      <Text size="sm" c="dimmed" mt="md">
        Only the operator can change these: prices and routes depend on them.
      </Text>
    </Card>
  )
}
