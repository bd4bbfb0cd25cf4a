import { Skeleton, Stack } from '@mantine/core'
import { useRead } from '../../../api/use-read.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Card, Page } from '../../../parts/page.tsx'
import { LinkTable } from './link-table.tsx'
import { NodeTable } from './node-table.tsx'

const POLL_EVERY_MS = 5_000

/** The processes that share the store, what they hold, and their links. */
export default function Nodes() {
  const read = useRead('/api/admin/nodes', undefined, { everyMs: POLL_EVERY_MS })
  const data = read.data?.data
  return (
    <Page
      title="Nodes"
      lead="Every server process that shares this database, and the work that it holds. When a node stops, other nodes take over its work as soon as its leases end."
    >
      {!data && read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!data && !read.error && <Skeleton h={300} />}
      {data && (
        <Stack gap="lg">
          <Card title="Nodes and leases" flush>
            <NodeTable nodes={data.nodes} />
          </Card>
          <Card title="Provider links of this node" flush={data.links.length > 0}>
            <LinkTable links={data.links} />
          </Card>
        </Stack>
      )}
    </Page>
  )
}
