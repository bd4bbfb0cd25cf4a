import { Alert, Button } from '@mantine/core'
import { Download, Tags, TriangleAlert, Upload } from 'lucide-react'
import { useState } from 'react'
import type { PriceRow } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useReadPages } from '../../../api/use-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { ChooseFile } from '../../../parts/choose-file.tsx'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { Money } from '../../../parts/money.tsx'
import { Page } from '../../../parts/page.tsx'
import { notifyFault } from '../../../parts/toast.tsx'
import { typeName } from '../../../parts/type-name.ts'
import { DestinationText } from './destination.tsx'
import { PRICES } from './paths.ts'
import { diffPrices, keyOf } from './price-diff.ts'
import { PriceFaults } from './price-faults.tsx'
import { BadPrices, downloadPrices, readAllPrices, readPriceFile } from './price-file.ts'
import { type PriceImport, ReplacePrices } from './replace-prices.tsx'

const ACCEPT = '.csv,.tsv,.txt,text/csv'

/** The price list, exported and imported as a file; an import shows its changes first. */
export default function Prices() {
  const api = useApi()
  const prices = useReadPages(PRICES)
  const [pendingImport, setPendingImport] = useState<PriceImport | null>(null)
  const [fault, setFault] = useState<BadPrices | null>(null)
  const [busy, setBusy] = useState<'in' | 'out' | null>(null)

  async function importFile(file: File): Promise<void> {
    setBusy('in')
    setFault(null)
    try {
      const wanted = await readPriceFile(file)
      const diff = diffPrices(await readAllPrices(api), wanted.prices)
      setPendingImport({ ...wanted, fileName: file.name, diff })
    } catch (error) {
      if (error instanceof BadPrices) setFault(error)
      else notifyFault(error)
    } finally {
      setBusy(null)
    }
  }

  async function save(): Promise<void> {
    setBusy('out')
    try {
      await downloadPrices(api)
    } catch (error) {
      notifyFault(error)
    } finally {
      setBusy(null)
    }
  }

  return (
    <Page
      title="Prices"
      lead="Per part for SMS, per message for other channels. The longest matching prefix applies, then the country, then “Anywhere”; a price for the message’s type takes precedence over one for all types."
      actions={
        <>
          <Button
            variant="default"
            leftSection={<Download size={16} />}
            loading={busy === 'out'}
            onClick={save}
          >
            Save as CSV
          </Button>
          <ChooseFile
            accept={ACCEPT}
            onFile={importFile}
            leftSection={<Upload size={16} />}
            loading={busy === 'in'}
          >
            Replace from a CSV
          </ChooseFile>
        </>
      }
    >
      <BadFileNote fault={fault} onClose={() => setFault(null)} />
      <DataList
        label="Prices"
        read={prices}
        columns={COLUMNS}
        rowKey={keyOf}
        empty={
          <EmptyNote
            icon={Tags}
            title="No prices yet"
            text="Messages without a matching price are refused. Save the empty list to get the columns, fill it in, and upload it."
          />
        }
      />
      <ReplacePrices offer={pendingImport} onClose={() => setPendingImport(null)} />
    </Page>
  )
}

function BadFileNote({ fault, onClose }: { fault: BadPrices | null; onClose: () => void }) {
  if (!fault) return null
  return (
    <Alert
      color="red"
      variant="light"
      mb="md"
      role="alert"
      icon={<TriangleAlert size={16} />}
      title="Nothing is changed: the file is not valid"
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <PriceFaults faults={fault.faults} />
    </Alert>
  )
}

const COLUMNS: readonly Column<PriceRow>[] = [
  { title: 'Channel', width: 'minmax(104px, 1.4fr)', render: ({ channel }) => channelName(channel) },
  {
    title: 'To',
    width: 'minmax(80px, 1fr)',
    render: row => <DestinationText {...row} />,
  },
  {
    title: 'Type',
    width: 'minmax(90px, 1fr)',
    wideOnly: true,
    render: ({ messageType }) => typeName(messageType),
  },
  {
    title: 'Price',
    width: '96px',
    align: 'end',
    render: ({ price, currency }) => <Money amount={price} currency={currency} />,
  },
]
