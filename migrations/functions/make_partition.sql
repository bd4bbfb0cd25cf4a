drop function if exists make_partition;

-- Makes a partition of a table of ours, for values of p_key from p_low to before p_high, if it is missing. Rows of that range
-- that are in the default partition move into it; only then is the default partition locked.
-- It is looked for in our schema alone: the search_path may have that of another Posthorn, with partitions of the same names.
create function make_partition(p_parent text, p_name text, p_low uuid, p_high uuid, p_settings text, p_key text default 'id')
returns void language plpgsql as $$
declare
  v_strays boolean;
begin
  if to_regclass(format('%I.%I', current_schema(), p_name)) is not null then return; end if;
  execute format('select exists (select 1 from %I where %I >= $1 and %I < $2)', p_parent || '_other', p_key, p_key)
    into v_strays using p_low, p_high;
  if not v_strays then
    execute format('create table %I partition of %I for values from (%L) to (%L) with (%s)',
      p_name, p_parent, p_low, p_high, p_settings);
    return;
  end if;
  execute format('lock table %I in access exclusive mode', p_parent || '_other');
  execute format('create table %I (like %I including defaults including constraints) with (%s)', p_name, p_parent, p_settings);
  execute format('with strays as (delete from %I where %I >= $1 and %I < $2 returning *) insert into %I select * from strays',
    p_parent || '_other', p_key, p_key, p_name) using p_low, p_high;
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_parent, p_name, p_low, p_high);
end $$;
