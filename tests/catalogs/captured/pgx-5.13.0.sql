-- Tool: pgx 5.13.0
-- Done: types loaded by name, statements in each mode, database/sql
-- When: 2026-11-27, on PostgreSQL 15.20
-- Again: capture.py with the command pgx
--- 1
--$ unknown "int4"
select $1::text::regtype::oid
--- 2
--$ oid "23"
select typtype::text, typbasetype from pg_type where oid=$1
--- 3
--$ oid "23"
select typelem, typdelim::text from pg_type where oid=$1
--- 4
--$ unknown "app.customer"
select $1::text::regtype::oid
--- 5
--$ oid "<type app.customer>"
select typtype::text, typbasetype from pg_type where oid=$1
--- 6
--$ oid "<type app.customer>"
select typrelid from pg_type where oid=$1
--- 7
--$ oid "<relation app.customer>"
select attname, atttypid
from pg_attribute
where attrelid=$1
	and not attisdropped
	and attnum > 0
order by attnum
--- 8
--$ unknown "_text"
select $1::text::regtype::oid
--- 9
--$ oid "1009"
select typtype::text, typbasetype from pg_type where oid=$1
--- 10
--$ oid "1009"
select typelem, typdelim::text from pg_type where oid=$1
--- 11
--$ unknown "app.order_line"
select $1::text::regtype::oid
--- 12
--$ oid "<type app.order_line>"
select typtype::text, typbasetype from pg_type where oid=$1
--- 13
--$ oid "<type app.order_line>"
select typrelid from pg_type where oid=$1
--- 14
--$ oid "<relation app.order_line>"
select attname, atttypid
from pg_attribute
where attrelid=$1
	and not attisdropped
	and attnum > 0
order by attnum
--- 15
--$ unknown "app.order_line[]"
select $1::text::regtype::oid
--- 16
--$ oid "<type app._order_line>"
select typtype::text, typbasetype from pg_type where oid=$1
--- 17
--$ oid "<type app._order_line>"
select typelem, typdelim::text from pg_type where oid=$1
--- 18
--$ unknown "jsonb"
select $1::text::regtype::oid
--- 19
--$ oid "3802"
select typtype::text, typbasetype from pg_type where oid=$1
--- 20
--$ oid "3802"
select typelem, typdelim::text from pg_type where oid=$1
--- 21
--$ unknown "app.nosuch"
select $1::text::regtype::oid
--- 22
--$ _text "{\"app.customer\",\"app.orders\"}"
WITH RECURSIVE
-- find the OIDs in pg_class which match one of the provided type names
selected_classes(oid,reltype) AS (
    -- this query uses the namespace search path, so will match type names without a schema prefix
    SELECT pg_class.oid, pg_class.reltype
    FROM pg_catalog.pg_class
        LEFT JOIN pg_catalog.pg_namespace n ON n.oid = pg_class.relnamespace
    WHERE pg_catalog.pg_table_is_visible(pg_class.oid)
      AND relname = ANY($1::text[])
UNION ALL
    -- this query will only match type names which include the schema prefix
    SELECT pg_class.oid, pg_class.reltype
    FROM pg_class
    INNER JOIN pg_namespace ON (pg_class.relnamespace = pg_namespace.oid)
    WHERE nspname || '.' || relname = ANY($1::text[])
),
selected_types(oid) AS (
    -- collect the OIDs from pg_types which correspond to the selected classes
    SELECT reltype AS oid
    FROM selected_classes
UNION ALL
    -- as well as any other type names which match our criteria
    SELECT pg_type.oid
    FROM pg_type
    LEFT OUTER JOIN pg_namespace ON (pg_type.typnamespace = pg_namespace.oid)
    WHERE typname = ANY($1::text[])
        OR nspname || '.' || typname = ANY($1::text[])
),
-- this builds a parent/child mapping of objects, allowing us to know
-- all the child (ie: dependent) types that a parent (type) requires
-- As can be seen, there are 3 ways this can occur (the last of which
-- is due to being a composite class, where the composite fields are children)
pc(parent, child) AS (
    -- typtype = 'b' AND typelem != 0 is not sufficient to identify an array type: some
    -- scalar types (box, point, line, lseg, name, ...) also set typelem to describe their
    -- internal C representation. typcategory = 'A' is the reliable "is an array" signal.
    SELECT parent.oid, parent.typelem
    FROM pg_type parent
    WHERE parent.typtype = 'b' AND parent.typelem != 0 AND parent.typcategory = 'A'
UNION ALL
    SELECT parent.oid, parent.typbasetype
    FROM pg_type parent
    WHERE parent.typtypmod = -1 AND parent.typbasetype != 0
UNION ALL
    SELECT pg_type.oid, atttypid
    FROM pg_attribute
    INNER JOIN pg_class ON (pg_class.oid = pg_attribute.attrelid)
    INNER JOIN pg_type ON (pg_type.oid = pg_class.reltype)
    WHERE NOT attisdropped
      AND attnum > 0
),
-- Now construct a recursive query which includes a 'depth' element.
-- This is used to ensure that the "youngest" children are registered before
-- their parents.
-- Deduplicate relationships at each depth so shared dependencies do not
-- multiply the work at every level of a nested composite type.
relationships(parent, child, depth) AS (
    SELECT DISTINCT 0::OID, selected_types.oid, 0
    FROM selected_types
UNION ALL
    SELECT pg_type.oid AS parent, pg_attribute.atttypid AS child, 1
    FROM selected_classes c
    inner join pg_type ON (c.reltype = pg_type.oid)
    inner join pg_attribute on (c.oid = pg_attribute.attrelid)
UNION
    SELECT pc.parent, pc.child, relationships.depth + 1
    FROM pc
    INNER JOIN relationships ON (pc.parent = relationships.child)
),
-- composite fields need to be encapsulated as a couple of arrays to provide the required information for registration
composite AS (
    SELECT pg_type.oid, ARRAY_AGG(attname ORDER BY attnum) AS attnames, ARRAY_AGG(atttypid ORDER BY ATTNUM) AS atttypids
    FROM pg_attribute
    INNER JOIN pg_class ON (pg_class.oid = pg_attribute.attrelid)
    INNER JOIN pg_type ON (pg_type.oid = pg_class.reltype)
    WHERE NOT attisdropped
      AND attnum > 0
    GROUP BY pg_type.oid
)
-- Bring together this information, showing all the information which might possibly be required
-- to complete the registration, applying filters to only show the items which relate to the selected
-- types/classes.
SELECT typname,
       pg_namespace.nspname,
       typtype,
       typbasetype,
       typelem,
       typdelim,
       pg_type.oid,
       COALESCE(multirange.rngtypid, 0) AS rngtypid,
       COALESCE(pg_range.rngsubtype, 0) AS rngsubtype,
       attnames, atttypids
    FROM relationships
    INNER JOIN pg_type ON (pg_type.oid = relationships.child)
    LEFT OUTER JOIN pg_range ON (pg_type.oid = pg_range.rngtypid)
    LEFT OUTER JOIN pg_range multirange ON (pg_type.oid = multirange.rngmultitypid)
    LEFT OUTER JOIN composite USING (oid)
    LEFT OUTER JOIN pg_namespace ON (pg_type.typnamespace = pg_namespace.oid)
    -- Only emit typtype = 'b' rows that are true arrays (typcategory = 'A'). Other base
    -- types, including ones with a non-zero typelem for non-array reasons (box, point,
    -- line, lseg, name, ...), already have a codec registered and must not be re-emitted,
    -- or LoadTypes will overwrite their correct codec with a bogus ArrayCodec.
    WHERE NOT (typtype = 'b' AND NOT (typelem != 0 AND typcategory = 'A'))
    GROUP BY typname, pg_namespace.nspname, typtype, typbasetype, typelem, typdelim, pg_type.oid, pg_range.rngsubtype,
        multirange.rngtypid,
        attnames, atttypids
    ORDER BY MAX(depth) desc, typname
--- 23
--$ _name "{\"customer\",\"orders\"}"
--$ unknown "r"
SELECT relname FROM pg_class WHERE relname = ANY ($1) AND relkind = $2 ORDER BY 1
--- 24
--$ _name "{\"customer\",\"orders\"}"
--$ char "r"
SELECT relname FROM pg_class WHERE relname = ANY ($1) AND relkind = $2 ORDER BY 1
--- 25
--$ unknown "{customer,orders}"
--$ unknown "r"
SELECT relname FROM pg_class WHERE relname = ANY ($1) AND relkind = $2 ORDER BY 1
--- 26
SELECT relname FROM pg_class WHERE relname = ANY ( '{customer,orders}' ) AND relkind =  'r'  ORDER BY 1
--- 27
--$ unknown "app"
SELECT nspname FROM pg_namespace WHERE nspname = $1
