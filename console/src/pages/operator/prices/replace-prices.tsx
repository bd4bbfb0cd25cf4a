import { Alert, Button, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { PosthornError } from '../../../../../sdk/index.ts'
import { faultOf } from '../../../api/fault.ts'
import { useAction } from '../../../api/use-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { Money } from '../../../parts/money.tsx'
import { notifyDone, notifyFault } from '../../../parts/toast.tsx'
import { typeName } from '../../../parts/type-name.ts'
import { useIsHere } from '../../../parts/use-is-here.ts'
import { WideTable } from '../../../parts/wide-table.tsx'
import { DestinationText } from './destination.tsx'
import { PRICES } from './paths.ts'
import { diffPrices, type PriceChange, type PriceDiff } from './price-diff.ts'
import { PriceFaults } from './price-faults.tsx'
import { faultsOf, type PriceFault, type PriceList, readAllPrices } from './price-file.ts'

const MAX_SHOWN = 200
const TABLE_PX = 380

export type PriceImport = PriceList & { fileName: string; diff: PriceDiff }

/** The changes of an import, shown before they apply. */
export function ReplacePrices({ offer, onClose }: { offer: PriceImport | null; onClose: () => void }) {
  return (
    <Modal opened={offer !== null} onClose={onClose} title="Replace the price list?" size="xl">
      {offer && <Changes offer={offer} onClose={onClose} />}
    </Modal>
  )
}

function Changes({ offer, onClose }: { offer: PriceImport; onClose: () => void }) {
  const [faults, setFaults] = useState<PriceFault[]>([])
  const [diff, setDiff] = useState(offer.diff)
  const { prices, lines, fileName } = offer
  const isHere = useIsHere()
  const replace = useAction(
    async api => {
      // A price that another operator has changed meanwhile must not be replaced unseen.
      const current = diffPrices(await readAllPrices(api), prices)
      if (JSON.stringify(current) !== JSON.stringify(diff)) return current
      await api.put(PRICES, { body: { prices } })
      return null
    },
    {
      changes: [PRICES],
      onDone(current) {
        if (current !== null) return setDiff(current)
        notifyDone(`${prices.length.toLocaleString()} prices apply from the next message.`)
        if (isHere()) onClose()
      },
    },
  )
  const showFaults = (error: unknown) => {
    if (!isHere()) return notifyFault(error)
    const told = error instanceof PosthornError ? faultsOf(error.details, lines) : []
    setFaults(told.length > 0 ? told : [{ line: null, text: faultOf(error).text }])
  }
  return (
    <Stack>
      <Text>
        <bdi>{fileName}</bdi> has {prices.length.toLocaleString()} prices:{' '}
        <b>{count(diff.changed)} changed</b>, <b>{count(diff.added)} new</b>,{' '}
        <b>{count(diff.removed)} removed</b>, {count(diff.same)} unchanged.
      </Text>
      {diff.changes.length === 0 ? (
        <Text c="dimmed">Nothing would change.</Text>
      ) : (
        <ChangeTable changes={diff.changes} />
      )}
      {diff !== offer.diff && (
        <Alert
          color="brass"
          variant="light"
          role="alert"
          icon={<TriangleAlert size={16} />}
          title="The list has changed since the file was read"
        >
          Nothing is replaced yet. These are the changes from the list of now.
        </Alert>
      )}
      {faults.length > 0 && (
        <Alert
          color="red"
          variant="light"
          role="alert"
          icon={<TriangleAlert size={16} />}
          title="Nothing is changed: these lines have errors"
        >
          <PriceFaults faults={faults} />
        </Alert>
      )}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Keep the list as it is
        </Button>
        <Button
          loading={replace.isPending}
          disabled={diff.changes.length === 0}
          onClick={() => replace.mutate(undefined, { onError: showFaults })}
        >
          Replace the list
        </Button>
      </Group>
    </Stack>
  )
}

function ChangeTable({ changes }: { changes: readonly PriceChange[] }) {
  return (
    <>
      <WideTable label="What changes" minWidth={560} maxHeight={TABLE_PX}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Channel</Table.Th>
            <Table.Th>To</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th ta="end">Before</Table.Th>
            <Table.Th ta="end">After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.slice(0, MAX_SHOWN).map(({ key, row, before, after }) => (
            <Table.Tr key={key}>
              <Table.Td>{channelName(row.channel) ?? row.channel}</Table.Td>
              <Table.Td>
                <DestinationText {...row} />
              </Table.Td>
              <Table.Td>{typeName(row.messageType)}</Table.Td>
              <Table.Td ta="end">
                <Side amount={before} currency={row.currency} none="New" />
              </Table.Td>
              <Table.Td ta="end">
                <Side amount={after} currency={row.currency} none="Removed" />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
      {changes.length > MAX_SHOWN && (
        <Text size="sm" c="dimmed">
          And {count(changes.length - MAX_SHOWN)} more.
        </Text>
      )}
    </>
  )
}

/** The currency in a file may be invalid: then it is shown as it is. */
function Side({ amount, currency, none }: { amount: number | null; currency: string; none: string }) {
  if (amount === null) return <span style={{ color: 'var(--ph-quiet)' }}>{none}</span>
  if (/^[A-Z]{3}$/.test(currency)) return <Money amount={amount} currency={currency} />
  return <>{`${amount} ${currency}`}</>
}

function count(number: number): string {
  return number.toLocaleString()
}
