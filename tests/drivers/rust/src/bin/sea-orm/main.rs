//! An ORM's usual life: SeaORM over sqlx, with its migrations, unchanged against Stoa.
//!
//! `sea-orm` connects as the variables of libpq say, `sea-orm URL` to another database. Prints `ok NAME` for each part. It works in a schema of
//! its own, which it makes and drops.

mod entities;
mod migrations;

use entities::{article, article_tag, author, tag};
use migrations::Migrator;
use sea_orm::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, LockBehavior, LockType, OnConflict};
use sea_orm::{
    AccessMode, ActiveModelTrait, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbErr, IsolationLevel, JoinType, Order,
    PaginatorTrait, QueryOrder, QuerySelect, Set, SqlErr, Statement, TransactionError, TransactionTrait, Unchanged,
};
use sea_orm_migration::MigratorTrait;

const SCHEMA: &str = "sea_orm_life";

async fn connect(url: &str, schema: Option<&str>) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.max_connections(8).sqlx_logging(false);
    if let Some(schema) = schema {
        options.set_schema_search_path(schema);
    }
    Database::connect(options).await
}

async fn migrations(db: &DatabaseConnection) -> Result<(), DbErr> {
    Migrator::up(db, Some(1)).await?;
    assert_eq!(Migrator::get_applied_migrations(db).await?.len(), 1);
    assert_eq!(Migrator::get_pending_migrations(db).await?.len(), 2);
    Migrator::up(db, None).await?;
    Migrator::up(db, None).await?;
    assert!(Migrator::get_pending_migrations(db).await?.is_empty());
    Migrator::down(db, Some(2)).await?;
    assert_eq!(Migrator::get_pending_migrations(db).await?.len(), 2);
    Migrator::refresh(db).await?;
    Migrator::reset(db).await?;
    Migrator::fresh(db).await?;
    Migrator::status(db).await?;
    let manager = sea_orm_migration::SchemaManager::new(db);
    assert!(manager.has_table("article").await? && !manager.has_table("nothing").await?);
    assert!(manager.has_column("article", "version").await? && !manager.has_column("article", "nothing").await?);
    assert!(manager.has_index("article", "article_title").await?);
    Ok(())
}

fn new_article(author: i32, title: &str) -> article::ActiveModel {
    article::ActiveModel {
        author_id: Set(author),
        title: Set(title.to_owned()),
        price: Set(Decimal::new(1250, 2)),
        code: Set(Uuid::from_u128(title.len() as u128)),
        extra: Set(serde_json::json!({"words": title.split(' ').count()})),
        state: Set(article::State::Draft),
        ..Default::default()
    }
}

async fn writing_and_reading(db: &DatabaseConnection) -> Result<(), DbErr> {
    let ann =
        author::ActiveModel { name: Set("Ann".into()), born: Set(Some(Date::from_ymd_opt(1970, 2, 3).unwrap())), ..Default::default() };
    let ann = ann.insert(db).await?;
    let bob = author::ActiveModel { name: Set("Bob".into()), ..Default::default() }.insert(db).await?;
    let first = new_article(ann.id, "on columns").insert(db).await?;
    assert_eq!((first.version, first.price, first.state.clone()), (1, Decimal::new(1250, 2), article::State::Draft));
    assert_eq!(first.extra["words"], 2);
    let many = article::Entity::insert_many((0..50).map(|n| new_article(bob.id, &format!("number {n}")))).exec(db).await?;
    assert!(many.last_insert_id > Some(first.id));
    assert_eq!(article::Entity::find().count(db).await?, 51);
    assert_eq!(article::Entity::find_by_id(first.id).one(db).await?, Some(first.clone()));

    // Relations: lazily, joined, one to many, many to many.
    assert_eq!(ann.find_related(article::Entity).all(db).await?, [first.clone()]);
    let with = article::Entity::find().find_also_related(author::Entity).filter(article::Column::Title.eq("number 7")).one(db).await?;
    assert_eq!(with.and_then(|(_, author)| author).map(|a| a.name), Some("Bob".into()));
    let grouped = author::Entity::find().order_by_asc(author::Column::Id).find_with_related(article::Entity).all(db).await?;
    assert_eq!(grouped.iter().map(|(a, list)| (a.name.as_str(), list.len())).collect::<Vec<_>>(), [("Ann", 1), ("Bob", 50)]);
    for word in ["rows", "keys"] {
        let tag = tag::ActiveModel { word: Set(word.into()), ..Default::default() }.insert(db).await?;
        article_tag::ActiveModel { article_id: Set(first.id), tag_id: Set(tag.id) }.insert(db).await?;
    }
    let tags = first.find_related(tag::Entity).order_by_asc(tag::Column::Word).all(db).await?;
    assert_eq!(tags.iter().map(|t| t.word.as_str()).collect::<Vec<_>>(), ["keys", "rows"]);
    let loaded = sea_orm::LoaderTrait::load_many_to_many(&vec![first.clone()], tag::Entity, article_tag::Entity, db).await?;
    assert_eq!(loaded[0].len(), 2);

    // Conditions, order, pages, aggregates.
    let pages = article::Entity::find().filter(article::Column::Title.like("number %")).order_by_desc(article::Column::Id).paginate(db, 8);
    assert_eq!((pages.num_items().await?, pages.num_pages().await?), (50, 7));
    assert_eq!(pages.fetch_page(6).await?.len(), 2);
    let sums: Vec<(String, i64, Decimal)> = author::Entity::find()
        .select_only()
        .column(author::Column::Name)
        .column_as(article::Column::Id.count(), "n")
        .column_as(article::Column::Price.sum(), "s")
        .join(JoinType::LeftJoin, author::Relation::Article.def())
        .group_by(author::Column::Name)
        .order_by(article::Column::Id.count(), Order::Desc)
        .into_tuple()
        .all(db)
        .await?;
    assert_eq!(sums[0], ("Bob".into(), 50, Decimal::new(62500, 2)));

    // Changes: one, many, upsert, delete with its cascade.
    let mut changed: article::ActiveModel = first.clone().into();
    changed.title = Set("on rows".into());
    changed.state = Set(article::State::Published);
    assert_eq!(changed.update(db).await?.state, article::State::Published);
    let raised = article::Entity::update_many()
        .col_expr(article::Column::Price, Expr::col(article::Column::Price).add(1))
        .filter(article::Column::AuthorId.eq(bob.id))
        .exec(db)
        .await?;
    assert_eq!(raised.rows_affected, 50);
    for word in ["keys", "cells"] {
        tag::Entity::insert(tag::ActiveModel { word: Set(word.into()), ..Default::default() })
            .on_conflict(OnConflict::column(tag::Column::Word).update_column(tag::Column::Word).to_owned())
            .exec(db)
            .await?;
    }
    assert_eq!(tag::Entity::find().count(db).await?, 3);
    let twice = tag::ActiveModel { word: Set("keys".into()), ..Default::default() }.insert(db).await.unwrap_err();
    assert!(matches!(twice.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))), "{twice:?}");
    let orphan = new_article(-1, "nobody's").insert(db).await.unwrap_err();
    assert!(matches!(orphan.sql_err(), Some(SqlErr::ForeignKeyConstraintViolation(_))), "{orphan:?}");
    assert_eq!(bob.delete(db).await?.rows_affected, 1);
    assert_eq!(article::Entity::find().count(db).await?, 1);
    let raw = Statement::from_sql_and_values(db.get_database_backend(), "SELECT $1::int + 1 AS n, now() AS at", [41.into()]);
    let row = db.query_one_raw(raw).await?.unwrap();
    assert_eq!(row.try_get::<i32>("", "n")?, 42);
    assert!(row.try_get::<DateTimeUtc>("", "at")?.timestamp() > 1_600_000_000);
    Ok(())
}

async fn transactions(db: &DatabaseConnection) -> Result<(), DbErr> {
    let count = || async { tag::Entity::find().count(db).await };
    let before = count().await?;
    let word = |w: &str| tag::ActiveModel { word: Set(w.to_owned()), ..Default::default() };
    // Nested ones are savepoints.
    let outer = db.begin().await?;
    word("outer").insert(&outer).await?;
    let inner = outer.begin().await?;
    word("inner").insert(&inner).await?;
    let innermost = inner.begin().await?;
    word("innermost").insert(&innermost).await?;
    innermost.commit().await?;
    assert_eq!(tag::Entity::find().count(&inner).await?, before + 3);
    inner.rollback().await?;
    assert_eq!(tag::Entity::find().count(&outer).await?, before + 1);
    let failing = outer.begin().await?;
    assert!(word("outer").insert(&failing).await.is_err());
    failing.rollback().await?;
    word("after").insert(&outer).await?;
    outer.commit().await?;
    assert_eq!(count().await?, before + 2);
    // One that is dropped is rolled back, and so is one whose closure fails.
    {
        let dropped = db.begin().await?;
        word("dropped").insert(&dropped).await?;
    }
    let failed = db
        .transaction::<_, (), DbErr>(|txn| {
            Box::pin(async move {
                tag::ActiveModel { word: Set("closure".into()), ..Default::default() }.insert(txn).await?;
                Err(DbErr::Custom("no".into()))
            })
        })
        .await;
    assert!(matches!(failed, Err(TransactionError::Transaction(_))));
    assert_eq!(count().await?, before + 2);
    let reader = db.begin_with_config(Some(IsolationLevel::Serializable), Some(AccessMode::ReadOnly)).await?;
    assert!(word("read only").insert(&reader).await.is_err());
    reader.rollback().await?;
    Ok(())
}

/// Changes an article if nobody has done so since it was read.
async fn save(db: &impl ConnectionTrait, article: &article::Model, title: &str) -> Result<bool, DbErr> {
    let done = article::Entity::update_many()
        .col_expr(article::Column::Title, Expr::value(title))
        .col_expr(article::Column::Version, Expr::col(article::Column::Version).add(1))
        .filter(article::Column::Id.eq(article.id))
        .filter(article::Column::Version.eq(article.version))
        .exec(db)
        .await?;
    Ok(done.rows_affected == 1)
}

async fn concurrency(db: &DatabaseConnection) -> Result<(), DbErr> {
    let read = article::Entity::find().one(db).await?.unwrap();
    assert!(save(db, &read, "first").await?);
    assert!(!save(db, &read, "second").await?, "a lost update");
    // Many at once: each tries until nobody was faster.
    let tasks = (0..6).map(|n| {
        let (db, id) = (db.clone(), read.id);
        tokio::spawn(async move {
            for round in 0..5 {
                loop {
                    let now = article::Entity::find_by_id(id).one(&db).await?.unwrap();
                    if save(&db, &now, &format!("{n} {round}")).await? {
                        break;
                    }
                }
            }
            Ok::<_, DbErr>(())
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap()?;
    }
    assert_eq!(article::Entity::find_by_id(read.id).one(db).await?.unwrap().version, read.version + 31);
    // Row locks.
    let holder = db.begin().await?;
    article::Entity::find_by_id(read.id).lock_exclusive().one(&holder).await?;
    let other = db.begin().await?;
    let skipped = article::Entity::find().lock_with_behavior(LockType::Update, LockBehavior::SkipLocked).all(&other).await?;
    assert!(skipped.is_empty());
    let busy = article::Entity::find().lock_with_behavior(LockType::Update, LockBehavior::Nowait).all(&other).await;
    assert!(busy.unwrap_err().to_string().contains("could not obtain lock"));
    other.rollback().await?;
    holder.commit().await?;
    // What was taken away is told.
    let gone = article::ActiveModel { id: Unchanged(-5), title: Set("nothing".into()), ..Default::default() };
    assert!(matches!(gone.update(db).await, Err(DbErr::RecordNotUpdated)));
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), DbErr> {
    let url = std::env::args().nth(1).filter(|argument| argument.contains("://")).unwrap_or_else(|| "postgres:///stoa".into());
    let first = connect(&url, None).await?;
    first.execute_unprepared(&format!("DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}")).await?;
    let db = connect(&url, Some(SCHEMA)).await?;
    migrations(&db).await?;
    println!("ok migrations");
    writing_and_reading(&db).await?;
    println!("ok writing and reading");
    transactions(&db).await?;
    println!("ok transactions");
    concurrency(&db).await?;
    println!("ok concurrency");
    Migrator::down(&db, None).await?;
    first.execute_unprepared(&format!("DROP SCHEMA {SCHEMA} CASCADE")).await?;
    println!("ok down");
    Ok(())
}
